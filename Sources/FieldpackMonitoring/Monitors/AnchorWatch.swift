import FieldpackCore
import FieldpackGeometry
import FieldpackLocation
import FieldpackProjection

/// Measures each fix of a device from the fix of the last detection; what the region and the
/// distance monitor have in common.
struct AnchorWatch: Sendable {
  private var devices = DeviceNames()
  /// What is known of each device, by its index in ``devices``.
  private var states: [DeviceState] = []
  let gate: FixGate

  init(gate: FixGate) { self.gate = gate }

  /// - Parameters:
  ///   - kind: of what is seen after the start.
  ///   - isDue: whether a fix so many metres from the anchor is a detection; may note in the anchor
  ///     what it waits for.
  /// - Returns: whether the fix was not passed over.
  mutating func take(
    _ fix: Fix, number: Int, as kind: Detection.Kind, into detections: inout [Detection],
    where isDue: (_ distance: Double, _ anchor: inout Anchor) -> Bool
  ) -> Bool {
    guard let index = devices.find(fix.device) else {
      guard gate.lets(fix) else { return false }
      let anchor = Anchor(fix: number, longitude: fix.longitude, latitude: fix.latitude)
      devices.append(fix.device)
      states.append(
        DeviceState(
          device: fix.device, fix: number, longitude: fix.longitude, latitude: fix.latitude,
          time: fix.time, anchor: anchor))
      detections.append(
        Detection(fix: number, kind: .start, device: fix.device, time: fix.time, distance: 0))
      return true
    }
    let last = states[index].time
    guard gate.lets(fix, after: last, late: &states[index].late) else { return false }
    states[index].take(fix, number: number)
    var anchor = states[index].anchor ?? Anchor(number, fix)
    if let since = anchor.beyondSince, let time = fix.time, time < since {
      anchor.beyondSince = nil
    }
    let distance = Geodesic.wgs84.distance(
      from: Position(x: anchor.longitude, y: anchor.latitude), to: fix.position)
    if isDue(distance, &anchor) {
      anchor = Anchor(number, fix)
      detections.append(
        Detection(fix: number, kind: kind, device: fix.device, time: fix.time, distance: distance))
    }
    states[index].anchor = anchor
    return true
  }

  var state: MonitorState { MonitorState(devices: devices.sorted.map { states[$0] }) }

  func state(of device: String) -> DeviceState? {
    devices.index(of: device).map { states[$0] }
  }

  mutating func resume(_ state: MonitorState) {
    (devices, states) = (DeviceNames(), [])
    for device in state.devices where devices.index(of: device.device) == nil {
      devices.append(device.device)
      states.append(device)
    }
  }
}

extension Anchor {
  fileprivate init(_ number: Int, _ fix: Fix) {
    self.init(fix: number, longitude: fix.longitude, latitude: fix.latitude)
  }
}

extension DeviceState {
  mutating func take(_ fix: Fix, number: Int) {
    self.fix = number
    longitude = fix.longitude
    latitude = fix.latitude
    time = fix.time ?? time
  }
}
