// RUN: tcp-opt %s -split-input-file -verify-diagnostics

func.func @group_yields_nothing() {
  // expected-error @below {{'tcp.group' op requires its body to yield the results' types (tensor<?xf32>), but got ()}}
  %0 = tcp.group {
    tcp.yield
  } : tensor<?xf32>
  return
}

// -----

func.func @group_yields_another_type(%arg0: index) {
  // expected-error @below {{'tcp.group' op requires its body to yield the results' types (tensor<?xf32>), but got (index)}}
  %0 = tcp.group {
    tcp.yield %arg0 : index
  } : tensor<?xf32>
  return
}

// -----

func.func @group_without_yield(%arg0: tensor<?xf32>) {
  // expected-error @below {{'tcp.group' op requires a body that ends with 'tcp.yield'}}
  tcp.group {
    %1 = tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>
  }
  return
}

// -----

func.func @group_without_block() {
  // expected-error @below {{'tcp.group' op requires a body of one block, but got 0}}
  tcp.group {
  }
  return
}

// -----

func.func @group_of_two_blocks() {
  // expected-error @below {{'tcp.group' op requires a body of one block, but got 2}}
  tcp.group {
  ^bb0:
    cf.br ^bb1
  ^bb1:
    tcp.yield
  }
  return
}

// -----

func.func @group_block_arguments() {
  // expected-error @below {{'tcp.group' op requires block arguments of types (), but got (index)}}
  tcp.group {
  ^bb0(%0: index):
    tcp.yield
  }
  return
}

// -----

func.func @isolated_group_without_block_argument(%arg0: index) {
  // expected-error @below {{'tcp.isolated_group' op requires block arguments of types (index), but got ()}}
  tcp.isolated_group %arg0 {
    tcp.yield
  } : index -> ()
  return
}

// -----

func.func @isolated_group_block_argument_type(%arg0: index) {
  // expected-error @below {{'tcp.isolated_group' op requires block arguments of types (index), but got (tensor<?xf32>)}}
  tcp.isolated_group %arg0 {
  ^bb0(%0: tensor<?xf32>):
    tcp.yield
  } : index -> ()
  return
}

// -----

func.func @isolated_group_yielded_types(%arg0: index) {
  // expected-error @below {{'tcp.isolated_group' op requires its body to yield the results' types (index), but got ()}}
  %0 = tcp.isolated_group %arg0 {
  ^bb0(%1: index):
    tcp.yield
  } : index -> index
  return
}

// -----

// What an isolated group needs from around it are its operands.
func.func @isolated_group_uses_value_around(%arg0: tensor<?xf32>) {
  // expected-note @below {{required by region isolation constraints}}
  tcp.isolated_group {
    // expected-error @below {{'tcp.tanh' op using value defined outside the region}}
    %0 = tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>
    tcp.yield
  } : () -> ()
  return
}

// -----

func.func @isolated_group_without_block() {
  // expected-error @below {{'tcp.isolated_group' op requires a body of one block, but got 0}}
  tcp.isolated_group {
  } : () -> ()
  return
}

// -----

func.func @isolated_group_without_yield(%arg0: tensor<?xf32>) {
  // expected-error @below {{'tcp.isolated_group' op requires a body that ends with 'tcp.yield'}}
  tcp.isolated_group %arg0 {
  ^bb0(%0: tensor<?xf32>):
    %1 = tcp.tanh %0 : tensor<?xf32> -> tensor<?xf32>
  } : tensor<?xf32> -> ()
  return
}

// -----

func.func @yield_before_the_last() {
  tcp.group {
    // expected-error @below {{'tcp.yield' op must be the last operation in the parent block}}
    tcp.yield
    tcp.yield
  }
  return
}

// -----

func.func @yield_outside_a_group() {
  scf.execute_region {
    // expected-error @below {{'tcp.yield' op expects parent op to be one of 'tcp.group, tcp.isolated_group'}}
    tcp.yield
  }
  return
}

// -----

// The custom form always has a name.
func.func @custom_op_without_op_name() {
  // expected-error @below {{'tcp.custom_op' op requires attribute 'op_name'}}
  "tcp.custom_op"() : () -> ()
  return
}

// -----

func.func @custom_op_op_name_type() {
  // expected-error @below {{'tcp.custom_op' op attribute 'op_name' failed to satisfy constraint: string attribute}}
  "tcp.custom_op"() {op_name = 1} : () -> ()
  return
}

// -----

func.func @custom_op_empty_op_name() {
  // expected-error @below {{'tcp.custom_op' op requires an 'op_name' that is not empty}}
  tcp.custom_op("") : () -> ()
  return
}
