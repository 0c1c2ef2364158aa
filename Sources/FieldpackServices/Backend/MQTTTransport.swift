import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// Carries edits to a backend through its broker, one after the other.
///
/// The feature goes as SpatialConnect's GeoJSON, with the id of the edit as `edit_id` in its
/// `metadata`; its geometry is taken to be in WGS 84. An edit is accepted when the backend replies so, never because it was sent.
public struct MQTTTransport: EditTransport {
  let backend: BackendService

  public func send(_ edits: [OutgoingEdit]) async -> [EditAnswer] {
    var answers: [EditAnswer] = []
    for edit in edits {
      let answer = await backend.send(edit)
      answers.append(answer)
      // Those behind it would come before it.
      if case .later = answer { break }
    }
    return answers
  }
}

extension BackendService {
  fileprivate func send(_ edit: OutgoingEdit) async -> EditAnswer {
    let (topic, payload): (String, JSONValue)
    do throws(FieldpackError) {
      (topic, payload) = (try BackendTopics.edits(of: edit), try edit.payload(client: device))
    } catch {
      return .refused(error)
    }
    do throws(FieldpackError) {
      let reply = try await request(edit.operation.action, payload, to: topic)
      let answer = EditAnswer(reply, to: edit)
      if case .later(let error) = answer { tell(.failed(error)) }
      return answer
    } catch {
      return .later(error)
    }
  }
}

extension OutgoingEdit.Operation {
  fileprivate var action: BackendAction {
    switch self {
    case .insert: .createFeature
    case .update: .updateFeature
    case .delete: .deleteFeature
    }
  }
}

extension OutgoingEdit {
  /// What the backend gets.
  func payload(client: String) throws(FieldpackError) -> JSONValue {
    let feature = try json(client: client)
    guard let form else { return feature }
    return .object([
      .init(name: "form_id", value: .integer(form)), .init(name: "feature", value: feature),
    ])
  }

  private func json(client: String) throws(FieldpackError) -> JSONValue {
    var batch = FeatureBatch(store: store, schema: schema)
    batch.append(ValueRow(feature, id: feature.id ?? .text(id), schema: schema))
    var options = GeoJSONWriter.Options()
    options.layout = .lines
    options.spatialConnect = .init(store: store, client: device ?? client, createdAt: time)
    let output = ByteOutput()
    var writer = GeoJSONWriter(output, options: options)
    try batch.drive(&writer)
    try writer.finish()
    guard
      case .object(var members)? = try? JSONValueReader.read(
        String(decoding: output.buffer, as: UTF8.self))
    else { throw FieldpackError(.invalidData, "the edit \(id) cannot be written as GeoJSON") }
    for (index, member) in members.enumerated() where member.name == "metadata" {
      var known: [JSONValue.Member] = []
      if case .object(let list) = member.value { known = list.filter { $0.name != "edit_id" } }
      members[index].value = .object(known + [.init(name: "edit_id", value: .text(id))])
    }
    return .object(members)
  }

  /// The columns of the feature, by what it holds. Its geometry is in WGS 84.
  private var schema: Schema {
    Schema(
      layer: layer, geometry: GeometryColumn(srs: .wgs84, z: .optional, m: .optional),
      columns: feature.attributes.elements.map { element in
        let type: ColumnType =
          switch element.value {
          case .boolean: .boolean
          case .integer: .integer
          case .real: .double
          case .blob: .blob()
          case .date: .date
          case .dateTime: .dateTime
          case .null, .text: .text()
          }
        return ColumnDefinition(element.name, type)
      })
  }
}

extension EditAnswer {
  /// What a reply says, which is `{"result":…,"error":…}`.
  init(_ reply: BackendMessage, to edit: OutgoingEdit) {
    guard let json = reply.payload, let value = try? JSONValueReader.read(json),
      case .object = value
    else {
      // The edit may be there, or not: sent again, its id tells the backend.
      self = .later(
        FieldpackError(
          .invalidData, "the backend's reply to the edit \(edit.id) is no JSON object"))
      return
    }
    if let error = value["error"], error != .null {
      let reason = error.string ?? error["message"]?.string ?? error.text
      self = .refused(FieldpackError(.constraint, "the backend refused the edit: \(reason)"))
      return
    }
    switch value["result"] {
    case .boolean(true): self = .accepted(serverID: nil)
    case .object: self = .accepted(serverID: value["result"]?["id"].map { $0.string ?? $0.text })
    case .integer(let id): self = .accepted(serverID: String(id))
    case .text(let id): self = .accepted(serverID: id)
    case .boolean(false):
      self = .refused(FieldpackError(.constraint, "the backend refused the edit without a reason"))
    default:
      self = .later(
        FieldpackError(
          .invalidData, "the backend's reply to the edit \(edit.id) tells no result"))
    }
  }
}
