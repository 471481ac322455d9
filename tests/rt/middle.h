/* A man in the middle between the facility's devices and the loop, over loopback, in a thread of his own:
 * every telegram, record and answer passes through him, in the order in which it was sent, so that lock step
 * holds. One robot, one sensor. */
#ifndef FF_TESTS_RT_MIDDLE_H
#define FF_TESTS_RT_MIDDLE_H

#include "sides.h"

#include "devices/ati/ati.h"
#include "devices/rsi/rsi.h"

#include <poll.h>

enum { MIDDLE_APART = 5 }; /* the loop's ports after the facility's */

typedef struct middle {
    sides both;
    /* What passes; in the thread of the middle. NULL: as it is. */
    void (*record)(void *user, ff_ati_record *record);
    void (*answer)(void *user, const ff_rsi_sen *answer);
    void *user;
    int robot[2], sensor[2]; /* sockets towards the facility, towards the loop */
    struct sockaddr_in loop_robot, loop_sensor, facility_robot, facility_sensor;
    atomic_bool ends;
    pthread_t thread;
} middle;

/* The records that wait, to the loop; from there, requests to the sensor. */
static inline void middle_sensor(middle *m) {
    uint8_t bytes[2048];
    struct sockaddr_in from;
    int64_t stamp;
    for (long n; (n = ff_socket_receive(m->sensor[1], bytes, sizeof bytes, &from, &stamp)) != 0;)
        if (n > 0) {
            m->loop_sensor = from;
            ff_socket_send(m->sensor[0], bytes, (size_t)n, &m->facility_sensor);
        }
    for (long n; (n = ff_socket_receive(m->sensor[0], bytes, sizeof bytes, &from, &stamp)) != 0;) {
        ff_ati_record record;
        size_t count;
        if (n != FF_ATI_RECORD_SIZE || ff_ati_records_decode(bytes, (size_t)n, &record, 1, &count) != FF_OK)
            continue;
        if (m->record)
            m->record(m->user, &record);
        if (ff_ati_record_encode(&record, bytes, sizeof bytes) == FF_OK)
            ff_socket_send(m->sensor[1], bytes, FF_ATI_RECORD_SIZE, &m->loop_sensor);
    }
}

static inline void *middle_run(void *self) {
    middle *m = self;
    const ff_rsi_names names = ff_rsi_names_default();
    struct pollfd p[] = {{.fd = m->robot[0], .events = POLLIN},
                         {.fd = m->robot[1], .events = POLLIN},
                         {.fd = m->sensor[0], .events = POLLIN},
                         {.fd = m->sensor[1], .events = POLLIN}};
    char text[FF_RSI_READ_MAX];
    int64_t stamp;
    struct sockaddr_in from;
    while (!atomic_load(&m->ends)) {
        poll(p, 4, 20);
        const long telegram = ff_socket_receive(m->robot[0], text, sizeof text, &from, &stamp);
        middle_sensor(m); /* sent before the telegram */
        if (telegram > 0) {
            m->facility_robot = from;
            ff_socket_send(m->robot[1], text, (size_t)telegram, &m->loop_robot);
        }
        const long answer = ff_socket_receive(m->robot[1], text, sizeof text, &from, &stamp);
        ff_rsi_sen sen;
        if (answer > 0 && m->answer && ff_rsi_sen_decode(&names, text, (size_t)answer, &sen) == FF_OK)
            m->answer(m->user, &sen);
        if (answer > 0)
            ff_socket_send(m->robot[0], text, (size_t)answer, &m->facility_robot);
    }
    return NULL;
}

/* The ports are known: he opens his. */
static inline void middle_begin(sides *both) {
    middle *m = (middle *)(void *)((char *)both - offsetof(middle, both));
    const ff_ports *facility = &both->facility_options.ports, *loop = &both->options.ports;
    char message[160];
    struct sockaddr_in at;
    ff_socket_address("127.0.0.1", facility->ati_port, &m->facility_sensor);
    ff_socket_address("127.0.0.1", loop->rsi_port, &m->loop_robot);
    ff_socket_address("127.0.0.1", facility->rsi_port, &at);
    assert_int_equal(ff_socket_open(&at, &m->robot[0], NULL, message, sizeof message), FF_OK);
    ff_socket_address("127.0.0.1", loop->ati_port, &at);
    assert_int_equal(ff_socket_open(&at, &m->sensor[1], NULL, message, sizeof message), FF_OK);
    ff_socket_address("127.0.0.1", 0, &at);
    assert_int_equal(ff_socket_open(&at, &m->robot[1], NULL, message, sizeof message), FF_OK);
    assert_int_equal(ff_socket_open(&at, &m->sensor[0], NULL, message, sizeof message), FF_OK);
    assert_int_equal(pthread_create(&m->thread, NULL, middle_run, m), 0);
}

/* Until the executive ends. */
static inline void run_middle(middle *m) {
    atomic_store(&m->ends, false);
    m->both.apart = MIDDLE_APART;
    m->both.begin = middle_begin;
    run_sides(&m->both);
    atomic_store(&m->ends, true);
    pthread_join(m->thread, NULL);
    for (int n = 0; n < 2; n++) {
        close(m->robot[n]);
        close(m->sensor[n]);
    }
}

#endif
