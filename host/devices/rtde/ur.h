/* devices/rtde/ur.h - what we ask of a Universal Robots controller over RTDE, on both sides: the client
 * (device.c) and the virtual controller (controller.h). Names and bits: Universal Robots, "Real-Time Data
 * Exchange (RTDE) guide". */
#ifndef FF_DEVICES_UR_H
#define FF_DEVICES_UR_H

#include "devices/rtde/rtde.h"

#define FF_UR_SCRIPT_PORT 30002
enum { FF_UR_RECORDS = 4 };

/* Double outputs from 24 on are ours; a real robot leaves them 0: of the virtual one in lock step the arrival
 * of the telegram and of each sensor's newest record [s]. */
#define FF_UR_OUTPUTS                                                                                       \
    "timestamp,actual_q,actual_TCP_pose,runtime_state,robot_status_bits,safety_status_bits,speed_scaling,"  \
    "output_int_register_24,output_int_register_25,output_int_register_26,output_double_register_24,"       \
    "output_double_register_25,output_double_register_26,output_double_register_27,output_double_register_" \
    "28"
#define FF_UR_OUTPUT_TYPES                                                                                  \
    {                                                                                                       \
        FF_RTDE_DOUBLE, FF_RTDE_VECTOR6D, FF_RTDE_VECTOR6D, FF_RTDE_UINT32, FF_RTDE_UINT32, FF_RTDE_UINT32, \
            FF_RTDE_DOUBLE, FF_RTDE_INT32, FF_RTDE_INT32, FF_RTDE_INT32, FF_RTDE_DOUBLE, FF_RTDE_DOUBLE,    \
            FF_RTDE_DOUBLE, FF_RTDE_DOUBLE, FF_RTDE_DOUBLE                                                  \
    }
#define FF_UR_INPUTS                                                                                       \
    "input_int_register_24,input_int_register_25,input_int_register_26,input_int_register_27,input_int_"   \
    "register_28,input_int_register_29,input_int_register_30,"                                             \
    "input_double_register_24,input_double_register_25,input_double_register_26,input_double_register_27," \
    "input_double_register_28,input_double_register_29,input_double_register_30"
#define FF_UR_INPUT_TYPES                                                                                  \
    {                                                                                                      \
        FF_RTDE_INT32, FF_RTDE_INT32, FF_RTDE_INT32, FF_RTDE_INT32, FF_RTDE_INT32, FF_RTDE_INT32,          \
            FF_RTDE_INT32, FF_RTDE_DOUBLE, FF_RTDE_DOUBLE, FF_RTDE_DOUBLE, FF_RTDE_DOUBLE, FF_RTDE_DOUBLE, \
            FF_RTDE_DOUBLE, FF_RTDE_DOUBLE                                                                 \
    }

/* input_int_register_25 */
enum { FF_UR_HOLD, FF_UR_SERVO, FF_UR_END };
/* input_int_register_30: the robot's motion before the step: it goes on, stands, or stands either way */
enum { FF_UR_MOVES, FF_UR_RESTS, FF_UR_ANY };
/* robot_status_bits */
enum { FF_UR_STATUS_POWERED = 1, FF_UR_STATUS_RUNS = 2 };
/* safety_status_bits */
enum {
    FF_UR_SAFETY_NORMAL = 1 << 0,
    FF_UR_SAFETY_PROTECTIVE = 1 << 2,
    FF_UR_SAFETY_EMERGENCY = 1 << 5 | 1 << 6 | 1 << 7,
    /* recovery, safeguard stop, violation, fault, stopped due to safety */
    FF_UR_SAFETY_OTHER = 1 << 3 | 1 << 4 | 1 << 8 | 1 << 9 | 1 << 10
};
/* runtime_state */
enum { FF_UR_STOPPED = 1, FF_UR_PLAYING = 2 };

/* A text for the operator as a number (FNV-1a, 31 bits; 0: none): registers carry no text. The virtual
 * controller's operator knows which push is asked for by it; a real one reads the terminal. */
static inline int32_t ff_ur_text_number(const char *text) {
    uint32_t hash = 2166136261u;
    for (; text && *text; text++)
        hash = (hash ^ (uint8_t)*text) * 16777619u;
    return hash == 2166136261u ? 0 : (int32_t)(hash & 0x7fffffffu);
}

#endif
