import FieldpackCore
import FieldpackField
import FieldpackHTTP

extension SensorSimulator {
  // MARK: Configuration

  /// What a service in .NET says of itself.
  static func parameters(modality: String, submodality: [String]) -> SensorDictionary {
    func item(_ name: String, _ type: String, _ value: String) -> SensorDictionary.Item {
      .init(
        name,
        .parameter(
          SensorParameter(
            name, type: type, isReadOnly: true, defaultValue: .text(value, type: type))))
    }
    var items = [
      item("lastUpdated", "dateTime", "2015-01-01T00:00:00Z"),
      item("inactivityTimeout", "unsignedInt", "3600"),
      item("maximumConcurrentSessions", "unsignedInt", "256"),
      item("autoDropLRUSessions", "boolean", "true"),
      item("initializationTimeout", "unsignedInt", "30000"),
      item("getConfigurationTimeout", "unsignedInt", "30000"),
      item("setConfigurationTimeout", "unsignedInt", "30000"),
      item("captureTimeout", "unsignedInt", "30000"),
      item("postAcquisitionProcessingTime", "unsignedInt", "30000"),
      item("lockStealingPreventionPeriod", "unsignedInt", "61440"),
      item("maximumStorageCapacity", "unsignedInt", "1048576"),
      item("lruCaptureDataAutomaticallyDropped", "boolean", "true"),
      item("modality", "string", modality),
    ]
    var parameter = SensorParameter(
      "submodality", type: "string", isReadOnly: submodality.count == 1,
      defaultValue: .string(submodality.first ?? ""))
    if submodality.count > 1 { parameter.allowedValues = submodality.map { .string($0) } }
    items.append(.init("submodality", .parameter(parameter)))
    items.append(
      .init(
        "width",
        .parameter(
          SensorParameter(
            "width", type: "unsignedInt", defaultValue: .integer(800),
            allowedValues: [.integer(800), .integer(640), .integer(320)]))))
    items.append(
      .init(
        "stream",
        .parameter(
          SensorParameter(
            "stream", type: "Resource", isReadOnly: true,
            defaultValue: .resource(
              SensorResource(
                uri: "stream/preview",
                contentType: "multipart/x-mixed-replace;boundary=\(frameBoundary)",
                relationship: "livePreview"))))))
    return SensorDictionary(items)
  }

  /// What is set now, of each parameter.
  ///
  /// - Parameter status: what the sensor is at, where it tells that among its parameters.
  func configuration(_ state: State, at status: String) -> SensorDictionary {
    var configuration = SensorDictionary(
      (options.configurationKeys ?? options.parameters.items.map(\.key)).map { key in
        .init(key, state.settings?[key] ?? options.parameters.setting(key) ?? .null)
      })
    if configuration["sensorStatus"] != nil { configuration["sensorStatus"] = .string(status) }
    return configuration
  }

  func configure(_ body: [UInt8], _ state: inout State) -> SimulatedResult {
    guard let wanted = try? SensorDictionary(configuration: body) else {
      return SimulatedResult(.badValue, badFields: ["configuration"])
    }
    let isJava = options.dialect == .java
    for item in wanted.items {
      guard let parameter = options.parameters.parameter(item.key) else {
        return SimulatedResult(
          .noSuchParameter, badFields: isJava ? [] : [item.key],
          message: isJava ? "The value \(item.key) is not a parameter" : nil)
      }
      guard parameter.isReadOnly != true else {
        return SimulatedResult(
          .unsupported, badFields: isJava ? [] : [item.key],
          message: isJava ? "The parameter \(item.key) is read only" : nil)
      }
      if !isJava, let allowed = parameter.allowedValues,
        !allowed.contains(where: { $0.text?.lowercased() == item.value.text?.lowercased() })
      {
        return SimulatedResult(.badValue, badFields: [item.key])
      }
    }
    var settings = state.settings ?? SensorDictionary()
    for item in wanted.items { settings[item.key] = item.value }
    state.settings = settings
    return SimulatedResult(.success)
  }

  // MARK: Captures

  func capture(_ state: inout State) -> SimulatedResult {
    var ids: [String] = []
    for _ in 0..<max(1, options.capturesAtOnce) {
      while state.captures.count >= max(1, options.capacity) {
        let oldest = state.captures.indices.min {
          state.captures[$0].lastUse < state.captures[$1].lastUse
        }
        guard options.dropsOldCaptures, let oldest else {
          return SimulatedResult(.failure, message: "there is no room for another capture")
        }
        state.captures.remove(at: oldest)
      }
      state.captureCount += 1
      var metadata = configuration(state, at: "capturing")
      metadata["captureDate"] = .text(clock.now.description, type: "dateTime")
      metadata["contentType"] = .string(options.picture.contentType)
      let capture = Capture(
        id: options.makeId(), number: state.captureCount, metadata: metadata,
        readyAt: clock.uptime + options.preparationTime, lastUse: clock.uptime)
      state.captures.append(capture)
      ids.append(capture.id)
    }
    return SimulatedResult(.success, captureIds: ids)
  }

  /// `nil` where the service has no such address.
  func download(_ operation: SensorOperation, _ arguments: [String]) -> SimulatedResult? {
    var badFields = Self.isUUID(arguments[0]) ? [] : ["captureId"]
    let size = operation == .thriftyDownload ? Int(arguments[1]) : nil
    if operation == .thriftyDownload, size ?? 0 <= 0 { badFields.append("maxSize") }
    guard badFields.isEmpty else {
      return options.dialect == .java
        ? nil : SimulatedResult(.badValue, badFields: badFields)
    }
    if let size {
      guard size < options.picture.longerSide else {
        let found = state.withLock { $0.captures.contains { $0.id == arguments[0] } }
        return SimulatedResult(found ? .unsupported : .invalidId)
      }
    }
    switch found(arguments[0]) {
    case .failure(let status): return SimulatedResult(status)
    case .success(let capture):
      var result = SimulatedResult(.success, metadata: capture.metadata)
      if operation != .getContentType {
        result.data = options.picture.bytes(capture.number, within: size)
      }
      return result
    }
  }

  private enum Found {
    case success(Capture)
    case failure(SensorStatus)
  }

  private func found(_ id: String) -> Found {
    state.withLock { state in
      guard let index = state.captures.firstIndex(where: { $0.id == id }) else {
        return .failure(.invalidId)
      }
      guard clock.uptime >= state.captures[index].readyAt else {
        return .failure(.preparingDownload)
      }
      state.captures[index].lastUse = clock.uptime
      return .success(state.captures[index])
    }
  }

  func raw(_ id: String) -> Response {
    switch found(id) {
    case .failure(let status): return xml(SimulatedResult(status))
    case .success(let capture):
      return Response(
        200, fields: ["Content-Type": options.picture.contentType],
        body: .bytes(options.picture.bytes(capture.number, within: nil)))
    }
  }

  // MARK: Preview

  static let frameBoundary = "fieldpackframe"

  func stream(_ arguments: [String]) -> Response {
    guard arguments[0] == "preview" else { return Response(404) }
    let type = "multipart/x-mixed-replace;boundary=\(Self.frameBoundary)"
    return Response(
      200, fields: ["Content-Type": type], body: .frames(interval: .milliseconds(100)))
  }

  /// One picture of the preview with its mark before it.
  package func frame(_ number: Int) -> [UInt8] {
    let picture = options.picture.bytes(number, within: nil)
    let head =
      "--\(Self.frameBoundary)\r\nContent-Type: \(options.picture.contentType)\r\n"
      + "Content-Length: \(picture.count)\r\n\r\n"
    return Array(head.utf8) + picture + Array("\r\n".utf8)
  }
}

/// The picture that a simulated sensor takes.
package struct SimulatedPicture: Sendable {
  package var contentType = "image/bmp"
  package var longerSide = 128
  /// The bytes of a capture, of which no two are alike.
  ///
  /// - Parameter number: of the capture, from 1.
  package var make: @Sendable (_ number: Int, _ longerSide: Int) -> [UInt8] = Self.bitmap

  package init() {}

  func bytes(_ number: Int, within side: Int?) -> [UInt8] {
    make(number, min(side ?? longerSide, longerSide))
  }

  /// A grey BMP with rings, and with its number in the first pixels.
  private static func bitmap(_ number: Int, _ side: Int) -> [UInt8] {
    func little(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let row = (side + 3) / 4 * 4
    let start = 54 + 1024
    var bytes = Array("BM".utf8) + little(start + row * side, 4) + little(0, 4) + little(start, 4)
    bytes += little(40, 4) + little(side, 4) + little(side, 4) + little(1, 2) + little(8, 2)
    bytes += little(0, 4) + little(row * side, 4) + little(19_685, 4) + little(19_685, 4)
    bytes += little(256, 4) + little(0, 4)
    for grey in 0..<256 { bytes += [UInt8(grey), UInt8(grey), UInt8(grey), 0] }
    for y in 0..<side {
      for x in 0..<row {
        let (dx, dy) = (x - side / 2, y - side / 2)
        bytes.append(UInt8(truncatingIfNeeded: (dx * dx + dy * dy) / 8))
      }
    }
    bytes.replaceSubrange(start..<start + 4, with: little(number, 4))
    return bytes
  }
}
