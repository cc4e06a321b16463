// Speaks with a node of ROS 2 by Fast DDS as rmw_fastrtps does, without an installation of ROS 2.
//
// Messages are bytes to the middleware, with their encapsulation, and are read and written by Fast CDR. Who asks a service stands beside
// the request (core/docs/protocol/ros2-surface.md 6), where Cyclone DDS puts it before it.

#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fastcdr/Cdr.h>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/common/WriteParams.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

namespace fast = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;

using Bytes = std::vector<char>;

// Longest wait for anything.
constexpr std::chrono::seconds PATIENCE{90};

[[noreturn]] inline void fail(const std::string& why) {
    std::cerr << why << std::endl;
    std::exit(1);
}

inline void check(bool holds, const std::string& why) {
    if (!holds) fail(why);
}

// Whether it holds within so long.
inline bool within(std::chrono::steady_clock::duration patience, const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

inline void until(const std::string& what, const std::function<bool()>& holds) {
    if (!within(PATIENCE, holds)) fail("waited for " + what);
}

// Bytes of the encapsulation and of the longest message that is expected here.
constexpr uint32_t LONGEST = 1 << 18;

// A type by its name alone.
class Opaque : public fast::TopicDataType {
public:
    explicit Opaque(const std::string& name) {
        setName(name.c_str());
        m_typeSize = LONGEST;
        m_isGetKeyDefined = false;
        auto_fill_type_information(false);
        auto_fill_type_object(false);
    }

    bool serialize(void* data, rtps::SerializedPayload_t* payload) override {
        const auto& bytes = *static_cast<Bytes*>(data);
        if (bytes.size() > payload->max_size) return false;
        std::memcpy(payload->data, bytes.data(), bytes.size());
        payload->length = static_cast<uint32_t>(bytes.size());
        payload->encapsulation = CDR_LE;
        return true;
    }

    bool deserialize(rtps::SerializedPayload_t* payload, void* data) override {
        const auto* begin = reinterpret_cast<const char*>(payload->data);
        static_cast<Bytes*>(data)->assign(begin, begin + payload->length);
        return true;
    }

    std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
        return [data] { return static_cast<uint32_t>(static_cast<Bytes*>(data)->size()); };
    }

    void* createData() override { return new Bytes; }
    void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
    bool getKey(void*, rtps::InstanceHandle_t*, bool) override { return false; }
};

// `package/kind/Name` as ROS names it on the wire.
inline std::string dds_type(const std::string& name) {
    const auto kind = name.find('/'), last = name.rfind('/');
    return name.substr(0, kind) + "::" + name.substr(kind + 1, last - kind - 1) + "::dds_::" + name.substr(last + 1) + "_";
}

// Writes a message.
inline Bytes written(const std::function<void(Cdr&)>& fields) {
    FastBuffer buffer;
    Cdr cdr(buffer, Cdr::LITTLE_ENDIANNESS, Cdr::DDS_CDR);
    cdr.serialize_encapsulation();
    fields(cdr);
    return Bytes(buffer.getBuffer(), buffer.getBuffer() + cdr.getSerializedDataLength());
}

// Reads a message, whose end is where its fields end.
inline void read(const std::string& what, Bytes bytes, const std::function<void(Cdr&)>& fields) {
    try {
        FastBuffer buffer(bytes.data(), bytes.size());
        Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
        cdr.read_encapsulation();
        fields(cdr);
        const size_t length = cdr.getSerializedDataLength();
        check(length <= bytes.size() && bytes.size() < length + 4,
              what + ": " + std::to_string(length) + " bytes of a message of " + std::to_string(bytes.size()));
    } catch (const eprosima::fastcdr::exception::Exception& error) {
        fail(what + ": " + error.what());
    }
}

// The network interfaces of a participant: loopback alone, or those that Fast DDS takes by itself.
enum class Interfaces { LOOPBACK, BY_DEFAULT };

class Peer {
public:
    explicit Peer(uint32_t domain, Interfaces interfaces = Interfaces::LOOPBACK) {
        auto qos = fast::PARTICIPANT_QOS_DEFAULT;
        if (interfaces == Interfaces::LOOPBACK) {
            auto loopback = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
            loopback->interfaceWhiteList = {"127.0.0.1"};
            qos.transport().use_builtin_transports = false;
            qos.transport().user_transports.push_back(loopback);
        }
        participant = fast::DomainParticipantFactory::get_instance()->create_participant(domain, qos);
        check(participant, "no participant");
        publisher = participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT);
        subscriber = participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
    }

    ~Peer() {
        participant->delete_contained_entities();
        fast::DomainParticipantFactory::get_instance()->delete_participant(participant);
    }

    fast::DataReader* reader(const std::string& name, const std::string& type, bool latched, int depth) {
        fast::DataReaderQos qos;
        qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
        qos.durability().kind = latched ? fast::TRANSIENT_LOCAL_DURABILITY_QOS : fast::VOLATILE_DURABILITY_QOS;
        qos.history().kind = fast::KEEP_LAST_HISTORY_QOS;
        qos.history().depth = depth;
        qos.resource_limits().max_samples = 0;
        qos.resource_limits().max_samples_per_instance = 0;
        qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
        auto* reader = subscriber->create_datareader(topic(name, type), qos);
        check(reader, "no reader of " + name);
        return reader;
    }

    fast::DataWriter* writer(const std::string& name, const std::string& type) {
        fast::DataWriterQos qos;
        qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
        qos.history().kind = fast::KEEP_LAST_HISTORY_QOS;
        qos.history().depth = 10;
        qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
        auto* writer = publisher->create_datawriter(topic(name, type), qos);
        check(writer, "no writer of " + name);
        return writer;
    }

private:
    fast::Topic* topic(const std::string& name, const std::string& type) {
        if (auto* known = participant->lookup_topicdescription(name)) return static_cast<fast::Topic*>(known);
        const auto full = dds_type(type);
        if (!participant->find_type(full)) {
            fast::TypeSupport support(new Opaque(full));
            support.register_type(participant);
        }
        auto* topic = participant->create_topic(name, full, fast::TOPIC_QOS_DEFAULT);
        check(topic, "no topic " + name);
        return topic;
    }

    fast::DomainParticipant* participant;
    fast::Publisher* publisher;
    fast::Subscriber* subscriber;
};

// What is there now, oldest first.
inline std::vector<Bytes> take(fast::DataReader* reader) {
    std::vector<Bytes> all;
    Bytes bytes;
    fast::SampleInfo info;
    while (reader->take_next_sample(&bytes, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
        if (info.valid_data) all.push_back(bytes);
    }
    return all;
}

// A client of a service.
class Client {
public:
    Client(Peer& peer, const std::string& name, const std::string& type) : name(name) {
        writer = peer.writer("rq/" + name + "Request", type + "_Request");
        reader = peer.reader("rr/" + name + "Reply", type + "_Response", false, 10);
        until("a server of " + name, [this] {
            fast::PublicationMatchedStatus requests;
            fast::SubscriptionMatchedStatus replies;
            writer->get_publication_matched_status(requests);
            reader->get_subscription_matched_status(replies);
            return requests.current_count > 0 && replies.current_count > 0;
        });
    }

    // The answer to a request.
    Bytes call(Bytes request) {
        Bytes answer;
        if (!answers(std::move(request), PATIENCE, &answer)) fail("waited for an answer of " + name);
        return answer;
    }

    // Whether a request is answered within so long.
    bool answers(Bytes request, std::chrono::steady_clock::duration patience, Bytes* to = nullptr) {
        rtps::WriteParams params;
        params.related_sample_identity().writer_guid(reader->guid());
        check(writer->write(&request, params), name + ": the request is not sent");
        const auto number = params.sample_identity().sequence_number();
        Bytes answer;
        return within(patience, [&] {
            fast::SampleInfo info;
            while (reader->take_next_sample(&answer, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
                const auto& asked = info.related_sample_identity;
                if (info.valid_data && asked.writer_guid() == reader->guid() && asked.sequence_number() == number) {
                    if (to) *to = answer;
                    return true;
                }
            }
            return false;
        });
    }

private:
    std::string name;
    fast::DataWriter* writer;
    fast::DataReader* reader;
};
