// Judges a node of ROS 2 by Fast DDS: twelve topics, three services and an action. Usage: judge DOMAIN.
//
// Prints what it finds as lines `name: value`; what is wrong ends it with its reason.

#include "peer.hpp"

#include <array>
#include <cmath>
#include <sstream>

namespace {

const std::string IO = "io_and_status_controller";
const std::string ACTION = "scaled_joint_trajectory_controller/follow_joint_trajectory/_action";
constexpr int8_t SUCCEEDED = 4;

struct Stamp {
    int32_t sec = 0;
    uint32_t nanosec = 0;
    int64_t nanos() const { return int64_t{sec} * 1'000'000'000 + nanosec; }
};

struct Header {
    Stamp stamp;
    std::string frame;
};

void get(Cdr& cdr, Stamp& stamp) { cdr >> stamp.sec >> stamp.nanosec; }

void get(Cdr& cdr, Header& header) {
    get(cdr, header.stamp);
    cdr >> header.frame;
}

template <size_t N>
void get(Cdr& cdr, std::array<double, N>& values) {
    for (auto& value : values) cdr >> value;
}

// As many as its length says, and no more than a node has.
uint32_t length_of(Cdr& cdr, uint32_t most) {
    uint32_t length;
    cdr >> length;
    check(length <= most, "a sequence of " + std::to_string(length));
    return length;
}

template <typename T>
std::string text(const T& values) {
    std::ostringstream out;
    out.precision(17);
    for (const auto& value : values) out << value << ' ';
    return out.str();
}

void say(const std::string& name, const std::string& value) { std::cout << name << ": " << value << std::endl; }

struct JointState {
    Header header;
    std::vector<std::string> names;
    std::vector<double> position, velocity, effort;

    explicit JointState(Cdr& cdr) { take(cdr); }

    explicit JointState(const Bytes& bytes) {
        read("joint_states", bytes, [this](Cdr& cdr) { take(cdr); });
    }

private:
    void take(Cdr& cdr) {
        get(cdr, header);
        cdr >> names >> position >> velocity >> effort;
    }
};

// A topic: what it is, and what is looked at in a message of it.
struct Topic {
    std::string name, type;
    bool latched;
    std::function<std::string(Cdr&)> look;
};

std::string digital(Cdr& cdr) {
    std::string high;
    for (uint32_t left = length_of(cdr, 18); left > 0; left--) {
        uint8_t pin;
        bool state;
        cdr >> pin >> state;
        if (state) high += std::to_string(pin) + " ";
    }
    return high;
}

std::string analog(Cdr& cdr) {
    std::ostringstream all;
    for (uint32_t left = length_of(cdr, 2); left > 0; left--) {
        uint8_t pin, domain;
        float state;
        cdr >> pin >> domain >> state;
        all << int{pin} << '/' << int{domain} << '/' << state << ' ';
    }
    return all.str();
}

template <size_t N>
std::function<std::string(Cdr&)> framed(const std::string& frame) {
    return [frame](Cdr& cdr) {
        Header header;
        std::array<double, N> values;
        get(cdr, header);
        get(cdr, values);
        check(header.frame == frame, "frame " + header.frame + ", expected " + frame);
        return text(values);
    };
}

std::string byte(Cdr& cdr) {
    uint8_t value;
    cdr >> value;
    return std::to_string(value);
}

std::string string(Cdr& cdr) {
    std::string value;
    cdr >> value;
    return value.substr(0, value.find('\n')).substr(0, 60);
}

const std::vector<Topic> TOPICS = {
    {"rt/joint_states", "sensor_msgs/msg/JointState", false, [](Cdr& cdr) {
        const JointState state(cdr);
        check(state.names.size() == 6 && state.position.size() == 6 && state.velocity.size() == 6,
              "not six joints: " + text(state.names) + text(state.position) + text(state.velocity));
        // Currents come by a connection that is made a little later.
        check(state.effort.empty() || state.effort.size() == 6, "not six currents");
        return text(state.position);
    }},
    {"rt/dynamic_joint_states", "control_msgs/msg/DynamicJointState", false, [](Cdr& cdr) {
        Header header;
        std::vector<std::string> names;
        get(cdr, header);
        cdr >> names;
        std::string positions;
        for (uint32_t left = length_of(cdr, 6); left > 0; left--) {
            std::vector<std::string> interfaces;
            std::vector<double> values;
            cdr >> interfaces >> values;
            check(!interfaces.empty() && interfaces.size() == values.size() && interfaces[0] == "position", text(interfaces));
            positions += text(std::array<double, 1>{values[0]});
        }
        return positions;
    }},
    {"rt/speed_scaling_state_broadcaster/speed_scaling", "std_msgs/msg/Float64", false, [](Cdr& cdr) {
        std::array<double, 1> value;
        get(cdr, value);
        return text(value);
    }},
    {"rt/" + IO + "/io_states", "ur_msgs/msg/IOStates", false, [](Cdr& cdr) {
        const auto in = digital(cdr), out = digital(cdr), flags = digital(cdr), read = analog(cdr), set = analog(cdr);
        check(flags.empty(), "flags " + flags);
        return "in " + in + "out " + out + "read " + read + "set " + set;
    }},
    {"rt/" + IO + "/tool_data", "ur_msgs/msg/ToolDataMsg", false, [](Cdr& cdr) {
        int8_t range2, range3;
        double input2, input3;
        float supply, current, temperature;
        uint8_t voltage, mode;
        cdr >> range2 >> range3 >> input2 >> input3 >> supply >> voltage >> current >> temperature >> mode;
        return std::to_string(mode);
    }},
    {"rt/force_torque_sensor_broadcaster/wrench", "geometry_msgs/msg/WrenchStamped", false, framed<6>("tool0_controller")},
    {"rt/tcp_pose_broadcaster/pose", "geometry_msgs/msg/PoseStamped", false, framed<7>("base")},
    {"rt/tf", "tf2_msgs/msg/TFMessage", false, [](Cdr& cdr) {
        check(length_of(cdr, 1) == 1, "not one transform");
        Header header;
        std::string child;
        std::array<double, 7> values;
        get(cdr, header);
        cdr >> child;
        get(cdr, values);
        check(header.frame == "base" && child == "tool0_controller", header.frame + " " + child);
        return text(values);
    }},
    {"rt/" + IO + "/robot_mode", "ur_dashboard_msgs/msg/RobotMode", true, byte},
    {"rt/" + IO + "/safety_mode", "ur_dashboard_msgs/msg/SafetyMode", true, byte},
    {"rt/" + IO + "/robot_program_running", "std_msgs/msg/Bool", true, byte},
    {"rt/robot_description", "std_msgs/msg/String", true, string},
};

Bytes nothing() {
    return written([](Cdr& cdr) { cdr << uint8_t{0}; });
}

struct Answer {
    bool success = false;
    std::string message;
};

Answer trigger(Client& client) {
    Answer answer;
    read("Trigger", client.call(nothing()), [&](Cdr& cdr) { cdr >> answer.success >> answer.message; });
    return answer;
}

bool set_io(Client& client, int8_t fun, int8_t pin, float state) {
    bool success;
    const auto request = written([&](Cdr& cdr) { cdr << fun << pin << state; });
    read("SetIO", client.call(request), [&](Cdr& cdr) { cdr >> success; });
    return success;
}

using Number = std::array<uint8_t, 16>;

// A goal of one point: its joints, where they are to be, and when.
Bytes goal(const Number& number, const std::vector<std::string>& joints, const std::vector<double>& to, int32_t seconds) {
    return written([&](Cdr& cdr) {
        const std::vector<double> none;
        for (auto byte : number) cdr << byte;
        // The trajectory: its header, joints, and one point.
        cdr << int32_t{0} << uint32_t{0} << std::string() << joints << uint32_t{1};
        cdr << to << none << none << none << seconds << uint32_t{0};
        // No motion of several degrees of freedom, and no tolerances.
        cdr << int32_t{0} << uint32_t{0} << std::string() << uint32_t{0} << uint32_t{0};
        cdr << uint32_t{0} << uint32_t{0} << uint32_t{0} << uint32_t{0};
        cdr << int32_t{0} << uint32_t{0};
    });
}

bool sent(Client& send, const Bytes& goal) {
    bool accepted;
    read("SendGoal", send.call(goal), [&](Cdr& cdr) {
        Stamp stamp;
        cdr >> accepted;
        get(cdr, stamp);
    });
    return accepted;
}

void listen(Peer& peer) {
    std::map<std::string, fast::DataReader*> readers;
    for (const auto& topic : TOPICS) {
        readers[topic.name] = peer.reader(topic.name, topic.type, topic.latched, topic.latched ? 1 : 5000);
    }
    std::map<std::string, std::vector<Bytes>> got;
    auto all_came = [&] {
        bool all = true;
        for (const auto& topic : TOPICS) {
            for (auto& bytes : take(readers[topic.name])) got[topic.name].push_back(bytes);
            all &= !got[topic.name].empty();
        }
        return all && got["rt/joint_states"].size() > 1000;
    };
    until("something of every topic", all_came);
    for (const auto& topic : TOPICS) {
        std::string found;
        for (const auto& bytes : got[topic.name]) read(topic.name, bytes, [&](Cdr& cdr) { found = topic.look(cdr); });
        check(!topic.latched || got[topic.name].size() == 1, topic.name + ": not one value for whoever comes late");
        say(topic.name, found);
    }
    say("topics", std::to_string(TOPICS.size()));
    check(JointState(got["rt/joint_states"].back()).effort.size() == 6, "no currents");
    int64_t last = 0;
    for (const auto& bytes : got["rt/joint_states"]) {
        const auto nanos = JointState(bytes).header.stamp.nanos();
        check(nanos > last, "stamps do not rise");
        last = nanos;
    }
}

void ask(Peer& peer) {
    Client version(peer, "ur_configuration_controller/get_robot_software_version", "ur_msgs/srv/GetRobotSoftwareVersion");
    std::array<uint32_t, 4> parts;
    read("version", version.call(nothing()), [&](Cdr& cdr) {
        for (auto& part : parts) cdr >> part;
    });
    say("software", text(parts));
    Client io(peer, IO + "/set_io", "ur_msgs/srv/SetIO");
    check(set_io(io, 1, 5, 1.0F), "an output is not set");
    check(!set_io(io, 1, 18, 1.0F) && !set_io(io, 2, 0, 1.0F), "an output is set that is none");
    auto* states = peer.reader("rt/" + IO + "/io_states", "ur_msgs/msg/IOStates", false, 10);
    until("output 5 to be high", [&] {
        bool high = false;
        for (const auto& bytes : take(states)) {
            read("io_states", bytes, [&](Cdr& cdr) {
                digital(cdr);
                high = digital(cdr) == "5 ";
                digital(cdr), analog(cdr), analog(cdr);
            });
        }
        return high;
    });
}

void follow(Peer& peer) {
    auto* states = peer.reader("rt/joint_states", "sensor_msgs/msg/JointState", false, 10);
    std::vector<Bytes> newest;
    until("joint states", [&] { return !(newest = take(states)).empty(); });
    const JointState first(newest.back());
    auto there = first.position;
    there[0] += 0.3;
    there[1] += 0.2;

    Client send(peer, ACTION + "/send_goal", "control_msgs/action/FollowJointTrajectory_SendGoal");
    Client result(peer, ACTION + "/get_result", "control_msgs/action/FollowJointTrajectory_GetResult");
    auto* feedback = peer.reader("rt/" + ACTION + "/feedback", "control_msgs/action/FollowJointTrajectory_FeedbackMessage", false, 1000);
    auto* status = peer.reader("rt/" + ACTION + "/status", "action_msgs/msg/GoalStatusArray", true, 1);
    check(!sent(send, goal({1}, first.names, there, 2)), "a goal is accepted while nothing is commanded");

    Client request(peer, "outrigger/request", "std_srvs/srv/Trigger");
    Answer answer;
    until("commanding", [&] {
        if (!answer.success) answer = trigger(request);
        if (!answer.success) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return answer.success;
    });
    auto* running = peer.reader("rt/" + IO + "/robot_program_running", "std_msgs/msg/Bool", true, 1);
    until("robot_program_running", [&] {
        bool runs = false;
        for (const auto& bytes : take(running)) read("running", bytes, [&](Cdr& cdr) { cdr >> runs; });
        return runs;
    });

    const Number number = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5};
    check(sent(send, goal(number, first.names, there, 2)), "the goal is rejected");
    const auto asks = written([&](Cdr& cdr) {
        for (auto byte : number) cdr << byte;
    });
    int8_t how;
    int32_t code;
    std::string why;
    read("GetResult", result.call(asks), [&](Cdr& cdr) { cdr >> how >> code >> why; });
    check(how == SUCCEEDED && code == 0, "the goal ends as " + std::to_string(how) + ": " + why);
    say("there", text(there));

    // Of Jazzy: behind the number a header, joints, and three points, before what has several degrees of freedom.
    size_t told = 0;
    for (const auto& bytes : take(feedback)) {
        read("feedback", bytes, [&](Cdr& cdr) {
            for (auto byte : number) {
                uint8_t other;
                cdr >> other;
                check(byte == other, "feedback of another goal");
            }
            Header header;
            std::vector<std::string> joints, degrees;
            get(cdr, header);
            cdr >> joints;
            check(joints == first.names, text(joints));
            for (int point = 0; point < 3; point++) {
                std::vector<double> position, velocity, acceleration, effort;
                Stamp at;
                cdr >> position >> velocity >> acceleration >> effort;
                get(cdr, at);
                check(position.size() == 6, "feedback has no six joints");
            }
            cdr >> degrees;
            for (int point = 0; point < 3; point++) {
                Stamp at;
                check(length_of(cdr, 0) + length_of(cdr, 0) + length_of(cdr, 0) == 0, "feedback of other joints");
                get(cdr, at);
            }
        });
        told++;
    }
    check(told > 10, std::to_string(told) + " times feedback");
    until("the status of the goal", [&] {
        bool ended = false;
        for (const auto& bytes : take(status)) {
            read("status", bytes, [&](Cdr& cdr) {
                for (uint32_t left = length_of(cdr, 64); left > 0; left--) {
                    Number of;
                    Stamp at;
                    int8_t is;
                    for (auto& byte : of) cdr >> byte;
                    get(cdr, at);
                    cdr >> is;
                    ended |= of == number && is == SUCCEEDED;
                }
            });
        }
        return ended;
    });
    Client release(peer, "outrigger/release", "std_srvs/srv/Trigger");
    check(trigger(release).success, "a release is refused");
}

}  // namespace

int main(int count, char** words) {
    check(count == 2, "usage: judge DOMAIN");
    Peer peer(static_cast<uint32_t>(std::stoul(words[1])));
    listen(peer);
    ask(peer);
    follow(peer);
    say("done", "yes");
}
