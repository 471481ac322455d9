/* Any datagram to both sides of an arm that is commanded by joint torques. */
#include "devices/torque/torque.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    ff_torque_telegram telegram;
    ff_torque_command command;
    uint8_t out[FF_TORQUE_TELEGRAM_MAX];
    size_t used;
    if (ff_torque_telegram_decode(bytes, size, &telegram) == FF_OK) {
        FUZZ_CHECK(ff_torque_telegram_encode(&telegram, out, sizeof out, &used) == FF_OK);
        FUZZ_CHECK(used == size && memcmp(out, bytes, size) == 0);
    }
    if (ff_torque_command_decode(bytes, size, &command) == FF_OK) {
        FUZZ_CHECK(ff_torque_command_encode(&command, out, sizeof out, &used) == FF_OK);
        FUZZ_CHECK(used == size && memcmp(out, bytes, size) == 0);
    }
    static uint64_t memory[1024];
    FUZZ_CHECK(ff_device_torque.bytes <= sizeof memory);
    ff_device_sample sample;
    ff_device_torque.open(memory, &(ff_device_settings){.run = 1});
    for (int n = 0; n < 2; n++)
        if (ff_device_torque.sample(memory, 0.0, bytes, size, &sample) >= 0) {
            const double torque[FF_TREE_JOINTS_MAX] = {1e9};
            ff_device_torque.answer(memory, 0.0, &(ff_robot_order){.moves = true, .torque = torque}, out,
                                    sizeof out, &used);
            FUZZ_CHECK(used <= sizeof out);
        }
    const ff_torque_arm_config config = ff_torque_arm_default();
    ff_torque_arm arm;
    ff_torque_action action;
    ff_torque_arm_reset(&arm, 1);
    FUZZ_CHECK(ff_torque_arm_send(&config, &arm, &(ff_torque_measured){0}, out, sizeof out, &used) == FF_OK);
    ff_torque_arm_receive(&config, &arm, bytes, size);
    ff_torque_arm_finish(&config, &arm, &action);
    FUZZ_CHECK(action.brakes); /* one command alone never releases them */
    return 0;
}
