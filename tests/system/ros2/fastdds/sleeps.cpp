// Judges a node of ROS 2 while this program, or the node, is stopped for longer than a lease. Usage: sleeps DOMAIN client|node.
//
// Whoever runs this is asked for it by a line `do sleep PID SECONDS` or `do sleep node SECONDS`, and answers with a line. Prints what it
// finds as lines `name: value`; what is wrong ends it with its reason.

#include "peer.hpp"

#include <iomanip>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

// Longer than the lease of Fast DDS, and of its own lease of the node's.
constexpr int CLIENT_ASLEEP = 25, NODE_ASLEEP = 15;
// Data flow again so long after who slept is awake [s].
constexpr double BOUND = 5.0;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void say(const std::string& name, double seconds) {
    std::cout << name << ": " << std::fixed << std::setprecision(2) << seconds << std::endl;
}

// When the newest joint states were made [s since 1970].
double newest(fast::DataReader* states) {
    double made = 0.0;
    for (const auto& bytes : take(states)) {
        int32_t sec = 0;
        uint32_t nanosec = 0;
        // The rest of the message is judged elsewhere.
        FastBuffer buffer(const_cast<char*>(bytes.data()), bytes.size());
        Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
        cdr.read_encapsulation();
        cdr >> sec >> nanosec;
        made = sec + 1e-9 * nanosec;
    }
    return made;
}

}  // namespace

int main(int count, char** words) {
    check(count == 3, "usage: sleeps DOMAIN client|node");
    Peer peer(static_cast<uint32_t>(std::stoul(words[1])));
    const bool node = std::string(words[2]) == "node";
    auto* states = peer.reader("rt/joint_states", "sensor_msgs/msg/JointState", false, 100);
    Client version(peer, "ur_configuration_controller/get_software_version", "ur_msgs/srv/GetRobotSoftwareVersion");
    const auto nothing = written([](Cdr& cdr) { cdr << uint8_t{0}; });
    version.call(nothing);
    until("joint states", [&] { return newest(states) > 0.0; });
    // A node whose first session is interrupted while it is being set up ends, as without a robot.
    std::this_thread::sleep_for(std::chrono::seconds(2));

    if (node) {
        std::cout << "do sleep node " << NODE_ASLEEP << std::endl;
    } else {
        std::cout << "do sleep " << getpid() << " " << CLIENT_ASLEEP << std::endl;
    }
    std::string done;
    std::getline(std::cin, done);
    const auto awake = Clock::now();
    const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();

    until("joint states", [&] { return newest(states) > now; });
    say("seen", since(awake));
    check(since(awake) < BOUND, "joint states come late");
    // One that is sent while nobody is there is lost, and asked again as clients do.
    while (!version.answers(nothing, std::chrono::seconds(1))) check(since(awake) < BOUND, "a call is not answered");
    say("answered", since(awake));
    check(within(std::chrono::seconds(5), [&] {
        fast::SubscriptionMatchedStatus matched;
        states->get_subscription_matched_status(matched);
        return matched.current_count == 1;
    }), "a publisher that is gone is still known");
    std::cout << "done: yes" << std::endl;
}
