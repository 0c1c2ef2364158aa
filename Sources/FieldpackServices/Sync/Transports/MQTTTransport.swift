import FieldpackCore

/// Carries edits to a backend through its broker, one after the other.
///
/// The feature goes as SpatialConnect's GeoJSON, with the id of the edit as `edit_id` in its
/// `metadata`; its geometry is taken to be in WGS 84. An edit is accepted when the backend replies so,
/// never because it was sent.
public struct MQTTTransport: EditTransport {
  let backend: BackendService

  public func send(_ edits: [OutgoingEdit]) async -> [EditAnswer] {
    var answers: [EditAnswer] = []
    for edit in edits {
      let answer = await backend.send(edit)
      answers.append(answer)
      // Later edits would arrive before this one.
      if case .later = answer { break }
    }
    return answers
  }
}

extension BackendService {
  fileprivate func send(_ edit: OutgoingEdit) async -> EditAnswer {
    var edit = edit
    edit.device = edit.device ?? device
    let (topic, payload): (String, String)
    do throws(FieldpackError) {
      (topic, payload) = (try BackendTopics.edits(of: edit), try edit.payload())
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
  fileprivate func payload() throws(FieldpackError) -> String {
    let feature = String(decoding: try geoJSON(), as: UTF8.self)
    return form.map { #"{"form_id":\#($0),"feature":\#(feature)}"# } ?? feature
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
