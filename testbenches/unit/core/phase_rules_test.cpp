// Non-blocking rules of the checker: each broken once and reported once; legal exchanges of every shape report nothing.
#include <gtest/gtest.h>

#include <functional>

#include "tlm/core/protocol_checker.h"

namespace dvp::core {
namespace {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

sc_time ns(double value) {
  return {value, sc_core::SC_NS};
}

// What the called side does with a phase: answers, and may change phase and delay.
using reaction = std::function<tlm_sync_enum(tlm::tlm_generic_payload&, tlm_phase&, sc_time&)>;

tlm_sync_enum accept(tlm::tlm_generic_payload&, tlm_phase&, sc_time&) {
  return tlm::TLM_ACCEPTED;
}
reaction answer(tlm_sync_enum how, tlm_phase next, sc_time more = sc_core::SC_ZERO_TIME) {
  return [=](tlm::tlm_generic_payload& p, tlm_phase& phase, sc_time& delay) {
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    phase = next;
    delay += more;
    return how;
  };
}

struct bench : sc_core::sc_module, tlm::tlm_mm_interface {
  tlm_utils::simple_initiator_socket<bench> socket{"socket"};
  protocol_checker checker{"checker"};
  tlm_utils::simple_target_socket<bench> target{"target"};
  reaction on_forward = accept, on_backward = accept;
  unsigned char data[8] = {};
  bool sets_response = true;
  tlm::tlm_generic_payload a, b;

  explicit bench(const sc_core::sc_module_name& name) : sc_module(name) {
    sc_core::sc_report_handler::set_actions("/dvp/protocol", sc_core::SC_DO_NOTHING);
    socket.register_nb_transport_bw(this, &bench::backward);
    target.register_nb_transport_fw(this, &bench::forward);
    socket.bind(checker.from_initiator);
    checker.to_target.bind(target);
    for (auto* p : {&a, &b}) {
      p->set_mm(this);
      p->acquire();
      p->set_command(tlm::TLM_READ_COMMAND);
      p->set_data_ptr(data);
      p->set_data_length(sizeof data);
      p->set_streaming_width(sizeof data);
    }
  }
  void free(tlm::tlm_generic_payload*) override {}

  void to_target(tlm::tlm_generic_payload& p, tlm_phase phase, sc_time delay = sc_core::SC_ZERO_TIME) {
    socket->nb_transport_fw(p, phase, delay);
  }
  void to_initiator(tlm::tlm_generic_payload& p, tlm_phase phase, sc_time delay = sc_core::SC_ZERO_TIME) {
    if (phase == tlm::BEGIN_RESP && sets_response) p.set_response_status(tlm::TLM_OK_RESPONSE);
    target->nb_transport_bw(p, phase, delay);
  }
  void renew(tlm::tlm_generic_payload& p) { p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE); }

 private:
  tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm_phase& phase, sc_time& delay) {
    return on_forward(p, phase, delay);
  }
  tlm_sync_enum backward(tlm::tlm_generic_payload& p, tlm_phase& phase, sc_time& delay) {
    return on_backward(p, phase, delay);
  }
};

void whole(bench& x, tlm::tlm_generic_payload& p) {
  x.to_target(p, tlm::BEGIN_REQ);
  x.to_initiator(p, tlm::END_REQ);
  x.to_initiator(p, tlm::BEGIN_RESP);
  x.to_target(p, tlm::END_RESP);
}

struct scenario {
  const char* what;
  std::function<void(bench&)> run;
};

// Each in a bench of its own; all are made before the kernel starts.
std::vector<std::vector<std::string>> run_all(const std::vector<scenario>& scenarios) {
  sc_core::sc_vector<bench> benches("bench", scenarios.size());
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::vector<std::vector<std::string>> told;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    scenarios[i].run(benches[i]);
    told.push_back(benches[i].checker.violations());
  }
  return told;
}

TEST(phase_rules, legal_exchanges_of_every_shape_pass) {
  const std::vector<scenario> scenarios = {
      {"four calls, twice", [](bench& x) { whole(x, x.a), x.renew(x.a), whole(x, x.a); }},
      {"END_REQ returned, delays everywhere",
       [](bench& x) {
         x.on_forward = answer(tlm::TLM_UPDATED, tlm::END_REQ, ns(2));
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.to_target(x.b, tlm::BEGIN_REQ, ns(2));
         x.on_forward = accept;
         x.to_initiator(x.a, tlm::BEGIN_RESP, ns(3));
         x.to_target(x.a, tlm::END_RESP, ns(4));
         x.to_initiator(x.b, tlm::BEGIN_RESP, ns(5));
         x.to_target(x.b, tlm::END_RESP, ns(5));
       }},
      {"completed at once",
       [](bench& x) {
         x.on_forward = answer(tlm::TLM_COMPLETED, tlm::BEGIN_REQ, ns(2));
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.to_target(x.b, tlm::BEGIN_REQ, ns(2));
       }},
      {"BEGIN_RESP returned",
       [](bench& x) {
         x.on_forward = answer(tlm::TLM_UPDATED, tlm::BEGIN_RESP, ns(2));
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.on_forward = accept;
         x.to_target(x.a, tlm::END_RESP, ns(2));
       }},
      {"BEGIN_RESP in place of END_REQ, END_RESP returned",
       [](bench& x) {
         x.on_backward = answer(tlm::TLM_UPDATED, tlm::END_RESP, ns(1));
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.to_initiator(x.a, tlm::BEGIN_RESP);
       }},
      {"two in flight, answered in the other order",
       [](bench& x) {
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.to_initiator(x.a, tlm::END_REQ);
         x.to_target(x.b, tlm::BEGIN_REQ);
         x.to_initiator(x.b, tlm::END_REQ);
         x.on_backward = answer(tlm::TLM_COMPLETED, tlm::BEGIN_RESP);
         x.to_initiator(x.b, tlm::BEGIN_RESP);
         x.to_initiator(x.a, tlm::BEGIN_RESP);
       }},
  };
  const auto told = run_all(scenarios);
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i], std::vector<std::string>{}) << scenarios[i].what;
  }
}

TEST(phase_rules, each_broken_rule_is_one_sentence) {
  const std::vector<scenario> scenarios = {
      {"data length is 0", [](bench& x) { x.a.set_data_length(0), x.to_target(x.a, tlm::BEGIN_REQ); }},
      {"response status is set before",
       [](bench& x) { x.a.set_response_status(tlm::TLM_OK_RESPONSE), x.to_target(x.a, tlm::BEGIN_REQ); }},
      {"without a memory manager",
       [](bench& x) {
         x.a.release();
         x.a.set_mm(nullptr);
         x.to_target(x.a, tlm::BEGIN_REQ);
       }},
      {"is not acquired", [](bench& x) { x.a.release(), x.to_target(x.a, tlm::BEGIN_REQ); }},
      {"BEGIN_REQ before the request before",
       [](bench& x) { x.to_target(x.a, tlm::BEGIN_REQ), x.to_target(x.b, tlm::BEGIN_REQ); }},
      {"BEGIN_REQ before the request before",
       [](bench& x) {
         x.on_forward = answer(tlm::TLM_UPDATED, tlm::END_REQ, ns(5));
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.to_target(x.b, tlm::BEGIN_REQ, ns(4));
       }},
      {"still under way",
       [](bench& x) {
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.to_initiator(x.a, tlm::END_REQ);
         x.to_target(x.a, tlm::BEGIN_REQ);
       }},
      {"not under way", [](bench& x) { x.to_initiator(x.a, tlm::BEGIN_RESP); }},
      {"not under way", [](bench& x) { whole(x, x.a), x.to_target(x.a, tlm::END_RESP); }},
      {"END_REQ of a request that has ended",
       [](bench& x) {
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.to_initiator(x.a, tlm::END_REQ);
         x.to_initiator(x.a, tlm::END_REQ);
       }},
      {"BEGIN_RESP before the response before",
       [](bench& x) {
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.to_initiator(x.a, tlm::BEGIN_RESP);
         x.to_target(x.b, tlm::BEGIN_REQ);
         x.to_initiator(x.b, tlm::BEGIN_RESP);
       }},
      {"BEGIN_RESP before the response before",
       [](bench& x) {
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.on_backward = answer(tlm::TLM_COMPLETED, tlm::BEGIN_RESP, ns(5));
         x.to_initiator(x.a, tlm::BEGIN_RESP);
         x.to_target(x.b, tlm::BEGIN_REQ);
         x.to_initiator(x.b, tlm::BEGIN_RESP, ns(4));
       }},
      {"left the response INCOMPLETE",
       [](bench& x) {
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.sets_response = false;
         x.to_initiator(x.a, tlm::BEGIN_RESP);
       }},
      {"END_RESP before BEGIN_RESP",
       [](bench& x) { x.to_target(x.a, tlm::BEGIN_REQ), x.to_target(x.a, tlm::END_RESP); }},
      {"changed an attribute",
       [](bench& x) {
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.a.set_data_length(4);
         x.to_initiator(x.a, tlm::BEGIN_RESP);
       }},
      {"released while under way",
       [](bench& x) {
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.a.release();
         x.to_initiator(x.a, tlm::BEGIN_RESP);
       }},
      {"at a time before",
       [](bench& x) {
         x.to_target(x.a, tlm::BEGIN_REQ, ns(5));
         x.to_initiator(x.a, tlm::BEGIN_RESP, ns(4));
       }},
      {"TLM_ACCEPTED with a changed",
       [](bench& x) {
         x.on_forward = answer(tlm::TLM_ACCEPTED, tlm::BEGIN_REQ, ns(1));
         x.to_target(x.a, tlm::BEGIN_REQ);
       }},
      {"phase other than END_REQ and BEGIN_RESP",
       [](bench& x) {
         x.on_forward = answer(tlm::TLM_UPDATED, tlm::END_RESP);
         x.to_target(x.a, tlm::BEGIN_REQ);
       }},
      {"END_REQ with another phase",
       [](bench& x) {
         x.to_target(x.a, tlm::BEGIN_REQ);
         x.on_backward = answer(tlm::TLM_UPDATED, tlm::END_REQ);
         x.to_initiator(x.a, tlm::END_REQ);
       }},
      {"phase that is the target's", [](bench& x) { x.to_target(x.a, tlm::END_REQ); }},
      {"phase that is the initiator's", [](bench& x) { x.to_initiator(x.a, tlm::BEGIN_REQ); }},
  };
  const auto told = run_all(scenarios);
  for (std::size_t i = 0; i < told.size(); ++i) {
    ASSERT_EQ(told[i].size(), 1U) << scenarios[i].what << (told[i].size() > 1 ? "\n" + told[i][1] : "");
    EXPECT_NE(told[i][0].find(scenarios[i].what), std::string::npos) << told[i][0];
  }
}

}  // namespace
}  // namespace dvp::core
