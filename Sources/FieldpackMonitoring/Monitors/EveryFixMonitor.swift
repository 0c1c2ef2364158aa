package import FieldpackLocation

/// Sees every fix that is not late and on Earth.
package struct EveryFixMonitor: FixMonitor {
  private var watch = AnchorWatch(gate: FixGate(accuracy: nil))

  package init() {}

  package var parameters: String { "all" }

  package mutating func take(_ fix: Fix, number: Int, into detections: inout [Detection]) -> Bool {
    watch.take(fix, number: number, as: .moved, into: &detections) { _, _ in true }
  }

  package var state: MonitorState { watch.state }
  package func state(of device: String) -> DeviceState? { watch.state(of: device) }
  package mutating func resume(_ state: MonitorState) { watch.resume(state) }
}
