// Serves one request of a script in a simulated controller by Fast DDS, and hears what the script says of the answer.
// Usage: server DOMAIN.
//
// Prints what it finds as lines `name: value`; what is wrong ends it with its reason.

#include "peer.hpp"

namespace {

const std::string SERVICE = "cell/open";
const std::string TYPE = "std_srvs/srv/Trigger";

// Answers one request as rmw_fastrtps does: to the reader that stands beside it, with the request's own number.
void serve(Peer& peer, const std::string& message) {
    auto* requests = peer.reader("rq/" + SERVICE + "Request", TYPE + "_Request", false, 10);
    auto* answers = peer.writer("rr/" + SERVICE + "Reply", TYPE + "_Response");
    Bytes request;
    fast::SampleInfo info;
    until("a request", [&] {
        return requests->take_next_sample(&request, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK && info.valid_data;
    });
    uint8_t nothing = 1;
    read("Trigger", request, [&](Cdr& cdr) { cdr >> nothing; });
    check(nothing == 0, "a request of " + std::to_string(nothing));
    const auto reader = info.related_sample_identity.writer_guid();
    check(reader != rtps::GUID_t::unknown(), "nobody stands beside the request");
    until("the reader of the answer", [&] {
        fast::PublicationMatchedStatus matched;
        answers->get_publication_matched_status(matched);
        return matched.current_count > 0;
    });
    rtps::WriteParams params;
    params.related_sample_identity().writer_guid(reader);
    params.related_sample_identity().sequence_number(info.sample_identity.sequence_number());
    auto answer = written([&](Cdr& cdr) { cdr << true << message; });
    check(answers->write(&answer, params), "the answer is not sent");
}

}  // namespace

int main(int count, char** words) {
    check(count == 2, "usage: server DOMAIN");
    Peer peer(static_cast<uint32_t>(std::stoul(words[1])));
    auto* said = peer.reader("rt/cell/said", "std_msgs/msg/String", true, 10);
    serve(peer, "open by Fast DDS");
    std::vector<Bytes> words_of_it;
    until("a word of the script", [&] { return !(words_of_it = take(said)).empty(); });
    read("said", words_of_it.front(), [&](Cdr& cdr) {
        std::string word;
        cdr >> word;
        std::cout << "said: " << word << std::endl;
    });
}
