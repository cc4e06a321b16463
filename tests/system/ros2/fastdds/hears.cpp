// Hears joint states by Fast DDS with its default settings. Usage: hears DOMAIN SECONDS.
//
// Prints what it found as lines `name: value`: `met` is the time until the first state, `states` are those of the 2 s after it. Where
// none comes within SECONDS, it ends with 1.

#include "peer.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

int main(int count, char** words) {
    check(count == 3, "usage: hears DOMAIN SECONDS");
    const auto begin = Clock::now();
    const double patience = std::stod(words[2]);
    Peer peer(static_cast<uint32_t>(std::stoul(words[1])), Interfaces::BY_DEFAULT);
    auto* reader = peer.reader("rt/joint_states", "sensor_msgs/msg/JointState", false, 1000);
    size_t states = 0;
    double met = 0.0;
    while (states == 0 || since(begin) < met + 2.0) {
        const size_t came = take(reader).size();
        if (states == 0 && came > 0) met = since(begin);
        states += came;
        check(states > 0 || since(begin) < patience, "no joint state came");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::cout << "met: " << met << "\nstates: " << states << std::endl;
}
