/* devices/ati/ati.h - ATI Net F/T: raw data transfer (RDT) over UDP, the configuration page, both sides, no
 * sockets.
 *
 * Everything on the wire is big-endian. The sensor serves one client: whoever asked last gets the records. */
#ifndef FF_DEVICES_ATI_H
#define FF_DEVICES_ATI_H

#include "devices/text.h"

#define FF_ATI_PORT 49152 /* fixed by the device */
#define FF_ATI_HTTP_PATH "/netftapi2.xml"
#define FF_ATI_REQUEST_SIZE 8   /* [bytes] */
#define FF_ATI_EXTENDED_SIZE 14 /* [bytes] */
#define FF_ATI_RECORD_SIZE 36   /* [bytes] */
#define FF_ATI_BUFFERED_MAX 40  /* records per datagram: 40 x 36 bytes fit an Ethernet frame */
#define FF_ATI_XML_MAX 16384    /* [bytes] longest configuration page that is read */

/* --------------------------------------------------------------------------------------------- request -- */

typedef enum ff_ati_command {
    FF_ATI_STOP = 0x0000,
    FF_ATI_START_BLOCK = 0x0001,    /* Ethernet Axia only: single blocks */
    FF_ATI_START = 0x0002,          /* real-time stream */
    FF_ATI_START_BUFFERED = 0x0003, /* n records per datagram */
    FF_ATI_START_MULTI = 0x0004,    /* several units, synchronised */
    FF_ATI_RESET_LATCH = 0x0041,
    FF_ATI_BIAS = 0x0042
} ff_ati_command;

typedef struct ff_ati_request {
    uint16_t command; /* ff_ati_command */
    uint32_t count;   /* samples; 0 endless */
    bool extended;    /* another address shall get the records */
    uint8_t address[4];
    uint16_t port;
} ff_ati_request;

/* FF_ERR_SIZE: buffer too small; FF_ERR_ARGUMENT: command above 0x7fff. */
ff_status ff_ati_request_encode(const ff_ati_request *request, uint8_t *buffer, size_t size, size_t *used);
/* FF_ERR_FORMAT: wrong length or header; FF_ERR_UNSUPPORTED: a command that is not in the list. */
ff_status ff_ati_request_decode(const uint8_t *bytes, size_t size, ff_ati_request *request);

/* --------------------------------------------------------------------------------------------- records -- */

typedef struct ff_ati_record {
    uint32_t rdt_sequence; /* records sent since the start command */
    uint32_t ft_sequence;  /* samples taken by the sensor */
    uint32_t status;       /* 0 is healthy */
    int32_t counts[6];     /* Fx Fy Fz Tx Ty Tz */
} ff_ati_record;

/* FF_ERR_SIZE: buffer too small. */
ff_status ff_ati_record_encode(const ff_ati_record *record, uint8_t *buffer, size_t size);
/* One datagram holds 1 to FF_ATI_BUFFERED_MAX records. FF_ERR_FORMAT: not a multiple of 36 bytes, none, or
 * too many; FF_ERR_SIZE: more than capacity. Nothing is written then. */
ff_status ff_ati_records_decode(const uint8_t *bytes, size_t size, ff_ati_record *records, size_t capacity,
                                size_t *count);

enum {
    FF_ATI_STATUS_ERROR = (int)0x80000000u, /* summary: any other error bit */
    FF_ATI_STATUS_SATURATED = 0x00020000,
    FF_ATI_STATUS_LATCHED =
        0x00010000, /* a threshold was crossed; with the summary bit it is not a failure */
};

/* FF_OK: healthy. FF_INFO_SATURATED: gauge saturation or A/D error, alone or with the latch. FF_INFO_LIMITED:
 * only a threshold latch. FF_ERR_DEVICE: any other bit. */
ff_status ff_ati_status_check(uint32_t status);
/* The same of an Ethernet Axia, whose bits mean something else [ATI 9610-05-Ethernet Axia-09, table 4.7]: 30
 * force or torque out of range, 27 a gauge out of range, for 32 samples after the last such one, 16 a monitor
 * condition latched. */
enum {
    FF_AXIA_STATUS_RANGE = 0x40000000,
    FF_AXIA_STATUS_GAUGE = 0x08000000,
    FF_AXIA_STATUS_LATCHED = 0x00010000
};
ff_status ff_axia_status_check(uint32_t status);
/* The bit of a reading beyond the range. */
static inline uint32_t ff_ati_saturated(bool axia) {
    return axia ? (uint32_t)FF_AXIA_STATUS_RANGE : (uint32_t)FF_ATI_STATUS_SATURATED;
}
/* "healthy", or the names of the set bits parted by commas, cut at size. Returns buffer. */
const char *ff_ati_status_text(uint32_t status, char *buffer, size_t size);

/* ------------------------------------------------------------------------------------------ configuration --
 */

typedef struct ff_ati_scale {
    double force;  /* [N] per count */
    double torque; /* [N m] per count */
} ff_ati_scale;

/* The flat page /netftapi2.xml. */
typedef struct ff_ati_page {
    char product[48];         /* prodname */
    double counts_per_force;  /* cfgcpf */
    double counts_per_torque; /* cfgcpt */
    char force_unit[12];      /* scfgfu: N */
    char torque_unit[12];     /* scfgtu: Nm, also N-m */
    bool has_range;
    double range[6];  /* cfgmr, in those units */
    bool rdt_enabled; /* comrdte */
    unsigned rate;    /* [Hz] comrdtrate; 0 not reported */
    unsigned buffer;  /* comrdtbsiz: records of a buffered datagram; 0 not reported */
    uint32_t status;  /* runstat; 0 not reported */
    bool has_bias;
    double bias[6]; /* setbias [counts] */
} ff_ati_page;

ff_ati_page ff_ati_page_default(void); /* 1e6 counts per N and Nm, 1 kHz */
/* FF_ERR_FORMAT: malformed, or without scale or units; FF_ERR_NOT_FINITE: overflow; FF_ERR_ARGUMENT: a scale
 * that is not positive; FF_ERR_UNSUPPORTED: a unit that is not known, or RDT is disabled (*page is then
 * filled in); FF_ERR_SIZE: longer than FF_ATI_XML_MAX. */
ff_status ff_ati_page_decode(const char *bytes, size_t size, ff_ati_page *page);
ff_status ff_ati_page_encode(const ff_ati_page *page, char *buffer, size_t size, size_t *used);
/* One of these units in N or N m; false: it is not known. */
bool ff_ati_unit(const char *unit, bool torque, double *factor);
/* To SI. Units: N kN lbf klbf kgf gf; Nm kNm Nmm lbf-in lbf-ft kgf-cm kgf-m, "-" optional.
 * FF_ERR_UNSUPPORTED, FF_ERR_ARGUMENT. */
ff_status ff_ati_page_scale(const ff_ati_page *page, ff_ati_scale *scale);

/* [N], or [N m] for the torques: the smallest of the page's three ranges that are reported. FF_INF: none is.
 * Of a page whose units are known. */
double ff_ati_page_range(const ff_ati_page *page, bool torque);

ff_wrench ff_ati_to_wrench(ff_ati_scale scale, const int32_t counts[6]);
/* Nearest counts, saturated at 32 bit. FF_OK, FF_INFO_SATURATED, FF_ERR_NOT_FINITE (counts untouched). */
ff_status ff_ati_from_wrench(ff_ati_scale scale, ff_wrench wrench, int32_t counts[6]);

/* ---------------------------------------------------------------------------------------------- sequence --
 */

/* Wrap-safe watch on one sequence number. */
typedef struct ff_ati_sequence {
    bool started;
    uint32_t last;
    uint64_t received, lost, repeated, reordered, restarts;
} ff_ati_sequence;

/* FF_OK next in turn (or first); FF_INFO_GAP numbers are missing before it; FF_INFO_STALE repeated or older:
 * do not use. More than 1000 back is a restart of the sender: FF_INFO_GAP, counted. */
ff_status ff_ati_sequence_step(ff_ati_sequence *state, uint32_t number);

/* ------------------------------------------------------------------------------------------ the PC's side --
 */

typedef struct ff_ati_client_config {
    ff_ati_request start; /* the request that starts the stream */
    double retry;         /* [s] a start without a record is repeated after this */
    double silence;       /* [s] a stream without a record for so long is lost: start again */
    unsigned retries;     /* starts in a row without a record before FF_ERR_DEVICE */
    unsigned frozen; /* records in a row with the same ft_sequence that count as frozen; 0: not watched */
} ff_ati_client_config;

ff_ati_client_config ff_ati_client_config_default(void); /* real-time stream, 0.1 s, 0.1 s, 20, 50 */
ff_status ff_ati_client_config_validate(const ff_ati_client_config *config);

typedef enum ff_ati_phase { FF_ATI_IDLE, FF_ATI_STARTING, FF_ATI_STREAMING, FF_ATI_FAILED } ff_ati_phase;

typedef struct ff_ati_client_state {
    ff_ati_phase phase;
    double asked_at; /* [s] last start request */
    double heard_at; /* [s] last good record */
    unsigned tries;  /* starts in a row without a record */
    bool fresh;      /* the next record that does not continue the old numbering opens a new one */
    bool bias_asked; /* a bias request waits to be sent */
    bool stop_asked;
    unsigned same; /* records in a row with one ft_sequence */
    uint64_t starts, malformed, unhealthy;
    ff_ati_sequence sequence;
    ff_ati_record last;
} ff_ati_client_state;

void ff_ati_client_reset(ff_ati_client_state *state);
void ff_ati_client_start(ff_ati_client_state *state); /* from idle or failed */
void ff_ati_client_bias(ff_ati_client_state *state);  /* one bias request with the next poll */
void ff_ati_client_stop(ff_ati_client_state *state);  /* one stop request with the next poll, then idle */
/* Call every cycle; now [s] from any steady clock. *used bytes are to be sent, mostly 0. FF_OK;
 * FF_ERR_DEVICE: given up after config->retries starts; FF_ERR_SIZE. */
ff_status ff_ati_client_poll(const ff_ati_client_config *config, ff_ati_client_state *state, double now,
                             uint8_t *buffer, size_t size, size_t *used);
/* One datagram; *record is the newest usable record of it. FF_OK; FF_INFO_GAP: records are missing before it;
 * FF_INFO_STALE: nothing newer in it, *record untouched; FF_INFO_SATURATED, FF_INFO_LIMITED, FF_ERR_DEVICE:
 * newest record has that status (*record is written); FF_INFO_HELD: the sample is frozen (*record is
 * written); FF_ERR_FORMAT: malformed. */
ff_status ff_ati_client_receive(const ff_ati_client_config *config, ff_ati_client_state *state, double now,
                                const uint8_t *bytes, size_t size, ff_ati_record *record);

/* --------------------------------------------------------------------------------------- the sensor's side
 * -- */

typedef struct ff_ati_peer {
    uint8_t address[4];
    uint16_t port;
} ff_ati_peer;

typedef struct ff_ati_server_config {
    unsigned buffer; /* records per datagram of the buffered stream, 1 to FF_ATI_BUFFERED_MAX */
    bool axia;       /* its status word is an Ethernet Axia's */
} ff_ati_server_config;

typedef struct ff_ati_server_state {
    bool streaming, buffered;
    ff_ati_peer peer; /* the one client */
    uint32_t left;    /* records still to send; 0 endless */
    uint32_t rdt_sequence, ft_sequence;
    int32_t counts[6]; /* last raw sample */
    int32_t bias[6];   /* subtracted */
    bool latched;      /* threshold latch, until reset */
    unsigned held;     /* records waiting for a full datagram */
    uint8_t pending[FF_ATI_BUFFERED_MAX * FF_ATI_RECORD_SIZE];
    uint64_t stolen; /* starts that took the stream from another client */
} ff_ati_server_state;

void ff_ati_server_reset(ff_ati_server_state *state);
/* A request from a peer. FF_OK; FF_INFO_LIMITED: the stream was taken from another client; FF_ERR_FORMAT,
 * FF_ERR_UNSUPPORTED: ignored and counted. An extended request sends the records where it says. */
ff_status ff_ati_server_receive(ff_ati_server_state *state, ff_ati_peer from, const uint8_t *bytes,
                                size_t size);
/* A new sample of the sensor. If *used is not zero, that datagram goes to state->peer. FF_OK;
 * FF_INFO_SATURATED: a count left 32 bit after bias; FF_ERR_SIZE: buffer too small for the datagram;
 * FF_ERR_ARGUMENT: config->buffer. */
ff_status ff_ati_server_sample(const ff_ati_server_config *config, ff_ati_server_state *state,
                               uint32_t status, const int32_t counts[6], uint8_t *buffer, size_t size,
                               size_t *used);

#endif
