// Writes a word to LPDDR5 memory, reads it back and tells how long that took.
#include <cstdint>
#include <iostream>

#include "tlm/lpddr5/controller.h"
#include "tlm_utils/simple_initiator_socket.h"

struct initiator : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<initiator> socket{"socket"};
  SC_HAS_PROCESS(initiator);
  explicit initiator(const sc_core::sc_module_name& name) : sc_module(name) { SC_THREAD(run); }

  std::uint32_t access(tlm::tlm_command command, std::uint64_t address, std::uint32_t word) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
    payload.set_data_length(sizeof word);
    payload.set_streaming_width(sizeof word);
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    wait(delay);
    return word;
  }

  void run() {
    access(tlm::TLM_WRITE_COMMAND, 0x1000, 0x600df00d);
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    const std::uint32_t word = access(tlm::TLM_READ_COMMAND, 0x8000000, 0);
    std::cout << "read " << word << " in " << sc_core::sc_time_stamp() - begin << ", then " << std::hex
              << access(tlm::TLM_READ_COMMAND, 0x1000, 0) << std::endl;
  }
};

int sc_main(int, char**) {
  dvp::lpddr5::controller memory("memory", dvp::lpddr5::load_memory_config("nano-64dq"));
  initiator from("initiator");
  from.socket.bind(memory.socket);
  sc_core::sc_start();
  memory.update_figures();
  std::cout << memory.statistics().tree().dump(2) << std::endl;
  return 0;
}
