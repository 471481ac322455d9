// ros_peer DOMAIN [FOLDER]: another vendor's DDS (eProsima Fast DDS) on 127.0.0.1, that knows no types: samples are bytes. Lines on the standard input:
// With a FOLDER it has the files of DDS Security there.
//   read TOPIC TYPE r|b|l    subscribes: reliable, best effort, reliable and transient local (latched)
//   take TOPIC TYPE r|b|l    the same, and nothing is printed of the samples
//   write TOPIC TYPE HEX     publishes once a reader is there
//   put TOPIC TYPE HEX       publishes, whoever reads
// on the standard output: "TOPIC HEX" for each sample, "matched TOPIC" and "refused TOPIC" (a writer of another quality).
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using Bytes = std::vector<uint8_t>;
static std::mutex printing;

struct BytesType : TopicDataType {
    explicit BytesType(const std::string &name) {
        setName(name.c_str());
        m_typeSize = 1 << 18;
        m_isGetKeyDefined = false;
    }
    bool serialize(void *data, SerializedPayload_t *payload) override {
        const Bytes &b = *static_cast<Bytes *>(data);
        payload->length = static_cast<uint32_t>(b.size());
        payload->encapsulation = CDR_LE;
        memcpy(payload->data, b.data(), b.size());
        return true;
    }
    bool deserialize(SerializedPayload_t *payload, void *data) override {
        static_cast<Bytes *>(data)->assign(payload->data, payload->data + payload->length);
        return true;
    }
    std::function<uint32_t()> getSerializedSizeProvider(void *data) override {
        return [data]() { return static_cast<uint32_t>(static_cast<Bytes *>(data)->size()); };
    }
    void *createData() override { return new Bytes; }
    void deleteData(void *data) override { delete static_cast<Bytes *>(data); }
    bool getKey(void *, eprosima::fastrtps::rtps::InstanceHandle_t *, bool) override { return false; }
};

struct Printer : DataReaderListener {
    std::string name;
    bool silent;
    Printer(std::string n, bool s) : name(std::move(n)), silent(s) {}
    void on_data_available(DataReader *reader) override {
        Bytes b;
        SampleInfo info;
        while (reader->take_next_sample(&b, &info) == ReturnCode_t::RETCODE_OK) {
            if (!info.valid_data || silent)
                continue;
            std::string line = name + " ";
            char hex[3];
            for (const uint8_t x : b) {
                snprintf(hex, sizeof hex, "%02x", x);
                line += hex;
            }
            const std::lock_guard<std::mutex> lock(printing);
            std::cout << line << std::endl;
        }
    }
    void say(const char *what) {
        const std::lock_guard<std::mutex> lock(printing);
        std::cout << what << " " << name << std::endl;
    }
    void on_subscription_matched(DataReader *, const SubscriptionMatchedStatus &s) override {
        if (s.current_count_change > 0)
            say("matched");
    }
    void on_requested_incompatible_qos(DataReader *, const RequestedIncompatibleQosStatus &) override { say("refused"); }
};

// DDS Security by the files of a folder (ros_security.sh).
static void secure(DomainParticipantQos &qos, const std::string &folder) {
    const std::string at = "file://" + folder + "/", pki = "dds.sec.auth.builtin.PKI-DH.", access = "dds.sec.access.builtin.Access-Permissions.";
    auto &p = qos.properties().properties();
    p.emplace_back("dds.sec.auth.plugin", "builtin.PKI-DH");
    p.emplace_back(pki + "identity_ca", at + "ca.pem");
    p.emplace_back(pki + "identity_certificate", at + "peer.pem");
    p.emplace_back(pki + "private_key", at + "peer.key");
    p.emplace_back("dds.sec.access.plugin", "builtin.Access-Permissions");
    p.emplace_back(access + "permissions_ca", at + "ca.pem");
    p.emplace_back(access + "governance", at + "governance.p7s");
    p.emplace_back(access + "permissions", at + "permissions.p7s");
    p.emplace_back("dds.sec.crypto.plugin", "builtin.AES-GCM-GMAC");
}

int main(int count, char **argv) {
    const int domain = atoi(argv[1]);
    DomainParticipantQos qos = PARTICIPANT_QOS_DEFAULT;
    if (count > 2)
        secure(qos, argv[2]);
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList.push_back("127.0.0.1");
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(udp);
    for (int i = 0; i < 10; i++) { // RTPS 9.6.1: the port of each participant's discovery
        eprosima::fastrtps::rtps::Locator_t at;
        eprosima::fastrtps::rtps::IPLocator::setIPv4(at, "127.0.0.1");
        at.port = static_cast<uint32_t>(7400 + 250 * domain + 10 + 2 * i);
        qos.wire_protocol().builtin.initialPeersList.push_back(at);
    }
    DomainParticipant *participant = DomainParticipantFactory::get_instance()->create_participant(static_cast<uint32_t>(domain), qos);
    Publisher *publisher = participant ? participant->create_publisher(PUBLISHER_QOS_DEFAULT) : nullptr;
    Subscriber *subscriber = participant ? participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT) : nullptr;
    if (!publisher || !subscriber)
        return 1;
    std::map<std::string, Topic *> topics;
    std::map<std::string, DataWriter *> writers;
    const auto topic_of = [&](const std::string &name, const std::string &type) {
        TypeSupport(new BytesType(type)).register_type(participant);
        Topic *&t = topics[name];
        return t ? t : t = participant->create_topic(name, type, TOPIC_QOS_DEFAULT);
    };
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string verb, name, type, rest;
        words >> verb >> name >> type >> rest;
        if (verb == "read" || verb == "take") {
            DataReaderQos q = DATAREADER_QOS_DEFAULT;
            q.reliability().kind = rest == "b" ? BEST_EFFORT_RELIABILITY_QOS : RELIABLE_RELIABILITY_QOS;
            q.durability().kind = rest == "l" ? TRANSIENT_LOCAL_DURABILITY_QOS : VOLATILE_DURABILITY_QOS;
            // All that comes is kept until it is read: a reader that keeps the last N gives up the oldest of more than N that it gets at once, however
            // reliable the way to it is. One that has no room left asks for the rest again.
            q.history().kind = KEEP_ALL_HISTORY_QOS;
            q.resource_limits().max_samples = q.resource_limits().max_samples_per_instance = 30000;
            q.endpoint().history_memory_policy = eprosima::fastrtps::rtps::DYNAMIC_REUSABLE_MEMORY_MODE; // not the largest size for each
            if (!subscriber->create_datareader(topic_of(name, type), q, new Printer(name, verb == "take")))
                return 1;
        } else if (verb == "write" || verb == "put") {
            DataWriter *&w = writers[name];
            if (!w) {
                DataWriterQos q = DATAWRITER_QOS_DEFAULT;
                q.reliability().kind = RELIABLE_RELIABILITY_QOS;
                q.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
                w = publisher->create_datawriter(topic_of(name, type), q);
            }
            PublicationMatchedStatus matched;
            for (int i = 0; w && verb == "write" && i < 2000 && (w->get_publication_matched_status(matched), matched.current_count == 0); i++)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            Bytes b;
            for (size_t i = 0; i + 1 < rest.size(); i += 2)
                b.push_back(static_cast<uint8_t>(std::stoi(rest.substr(i, 2), nullptr, 16)));
            if (!w || !w->write(&b))
                return 1;
        }
    }
    // it says that it leaves: who does not is sent to until its lease ends, 20 s later
    participant->delete_contained_entities();
    DomainParticipantFactory::get_instance()->delete_participant(participant);
    return 0;
}
