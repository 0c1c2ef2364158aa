import FieldpackCore
import FieldpackGeometry
import FieldpackProjection

/// Measures each fix of a device from the fix of the last detection; what the region and the
/// distance monitor have in common.
struct AnchorWatch: Sendable {
  private var devices = DeviceTable<DeviceState>()
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
      devices.append(
        fix.device,
        DeviceState(
          device: fix.device, fix: number, longitude: fix.longitude, latitude: fix.latitude,
          time: fix.time, anchor: anchor))
      detections.append(
        Detection(fix: number, kind: .start, device: fix.device, time: fix.time, distance: 0))
      return true
    }
    let last = devices.entries[index].time
    guard gate.lets(fix, after: last, late: &devices.entries[index].late) else { return false }
    devices.entries[index].take(fix, number: number)
    var anchor = devices.entries[index].anchor ?? Anchor(number, fix)
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
    devices.entries[index].anchor = anchor
    return true
  }

  var state: MonitorState { MonitorState(devices: devices.sorted.map { devices.entries[$0] }) }

  func state(of device: String) -> DeviceState? {
    devices.index(of: device).map { devices.entries[$0] }
  }

  mutating func resume(_ state: MonitorState) {
    devices = DeviceTable()
    for device in state.devices where devices.index(of: device.device) == nil {
      devices.append(device.device, device)
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
