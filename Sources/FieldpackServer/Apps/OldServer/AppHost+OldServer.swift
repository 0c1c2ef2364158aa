import FieldpackCore
import FieldpackGeometry
import FieldpackLocation
import FieldpackServices

/// The answers for clients of SpatialConnect's server are those that pages get by the bridge.
extension AppHost {
  /// What a page would be told.
  struct Told: Sendable {
    var payloads: [JSONValue] = []
    /// Why no more payloads come.
    var error: (code: Int, message: String)?
  }

  /// Asks as a page does.
  func ask(type: String, _ payload: JSONValue = .null) async -> Told {
    let told = Locked(Told())
    let session = session { reply in
      let data = try? JSONValueReader.read(String(decoding: reply.data, as: UTF8.self))
      told.withLock { told in
        switch reply.event {
        case "old":
          if let payload = data?["payload"] { told.payloads.append(payload) }
        case "old_error":
          let code = data?["code"]?.number.map { Int($0) } ?? 0
          told.error = (code, data?["message"]?.string ?? "")
        default: break
        }
      }
    }
    let message: JSONValue = ["type": .text(type), "payload": payload, "responseId": "old"]
    await session.receive(message.text)
    await session.finish()
    return told.withLock { $0 }
  }

  func old(_ type: Int, member: String? = nil) async -> ServerResponse {
    let payload = await ask(type: "\(type)").payloads.first ?? .null
    return .old(member.map { payload[$0] ?? .null } ?? payload)
  }

  /// The first entry of a list whose member has that value; `nil` where there is none.
  func oldEntry(
    _ type: Int, in list: String, whose member: String, is value: String
  ) async -> JSONValue? {
    guard case .array(let entries)? = await ask(type: "\(type)").payloads.first?[list] else {
      return nil
    }
    return entries.first { $0.name(member) == value }
  }

  /// Changes a config.
  ///
  /// - Parameter result: what is answered; by default what was sent.
  func oldChange(
    _ type: Int, _ payload: JSONValue?, gives result: JSONValue? = nil
  ) async -> ServerResponse {
    guard let payload else { return .old(400, error: "The body is no JSON.") }
    guard isWritable else { return .old(403, error: "This server only reads.") }
    if let error = await ask(type: "\(type)", payload).error {
      return .old(400, error: error.message)
    }
    return .old(result ?? payload)
  }

  // MARK: Submissions

  /// The most submissions of an answer.
  private static let mostResults = 10_000

  func oldResults(_ key: String) async -> ServerResponse {
    let told = await ask(
      type: "110",
      [
        "filter": ["layerIds": [.text(key)], "limit": .integer(Int64(Self.mostResults))],
        "storeId": ["FORM_STORE"],
      ])
    if let error = told.error { return .old(404, error: error.message) }
    return .old(["type": "FeatureCollection", "features": .array(told.payloads)])
  }

  /// Keeps a submission. One whose edit was kept in this run before is kept once.
  func oldSubmit(_ body: JSONValue?, to key: String) async -> ServerResponse {
    guard let body, case .object(let members) = body["feature"] ?? body else {
      return .old(400, error: "The body is no feature.")
    }
    guard isWritable else { return .old(403, error: "This server only reads.") }
    let edit = (body["feature"] ?? body)["metadata"]?["edit_id"]?.string
    if let edit, let known = submitted.id(of: edit, in: key) { return .old(["id": known]) }
    let places = ["storeId", "layerId", "metadata", "id"]
    let feature = JSONValue.object(
      members.filter { !places.contains($0.name) } + [
        .init(name: "storeId", value: .text(FormStore.id.rawValue)),
        .init(name: "layerId", value: .text(key)),
      ])
    let told = await ask(type: "114", ["feature": feature])
    if let error = told.error { return .old(422, error: error.message) }
    guard let text = told.payloads.first?.name("id"), let tuple = KeyTuple(text) else {
      return .old(500, error: "The submission cannot be read back.")
    }
    let id = JSONValue.text(tuple.feature.description)
    if let edit { submitted.keep(id, of: edit, in: key) }
    return .old(["id": id])
  }

  // MARK: Positions

  /// The newest position of this device.
  func oldLocations() async -> ServerResponse {
    var features: [JSONValue] = []
    if let store = bridge.location?.store.readOnly {
      let newest = Query(LocationStore.layer)
        .order(by: [Order("timestamp", descending: true)]).limit(1)
      do {
        for try await feature in try await store.query(newest).features {
          features.append(oldLocation(feature))
        }
      } catch {
        return .old(500, error: "The positions cannot be read.")
      }
    }
    return .old(["type": "FeatureCollection", "features": .array(features)])
  }

  private func oldLocation(_ feature: Feature) -> JSONValue {
    var coordinates: [JSONValue] = []
    if case .point(let position?, _)? = feature.geometry {
      coordinates = [.real(position.x), .real(position.y)]
      if let z = position.z, z.isFinite { coordinates.append(.real(z)) }
    }
    var time: JSONValue = .null
    if case .integer(let number)? = feature.attributes["timestamp"] {
      time = .text(Instant(milliseconds: number).description)
    }
    return [
      "type": "Feature", "id": JSONValue(bridge.device),
      "geometry": ["type": "Point", "coordinates": .array(coordinates)], "properties": .object([]),
      "metadata": [
        "client": JSONValue(bridge.device), "updated_at": time, "device_info": .object([]),
      ],
    ]
  }
}

/// The newest submissions of a run by their edits, so that one that is sent again is not kept again.
final class SubmittedEdits: Sendable {
  private struct Edit: Hashable {
    var id: String
    var form: String
  }

  private static let most = 10_000
  private let state = Locked<(ids: [Edit: JSONValue], order: [Edit])>(([:], []))

  func id(of edit: String, in form: String) -> JSONValue? {
    state.withLock { $0.ids[Edit(id: edit, form: form)] }
  }

  func keep(_ id: JSONValue, of edit: String, in form: String) {
    state.withLock { state in
      let edit = Edit(id: edit, form: form)
      if state.ids.updateValue(id, forKey: edit) == nil { state.order.append(edit) }
      guard state.order.count > 2 * Self.most else { return }
      for old in state.order.prefix(Self.most) { state.ids[old] = nil }
      state.order.removeFirst(Self.most)
    }
  }
}
