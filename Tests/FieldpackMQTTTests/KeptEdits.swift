#if MQTT
  import FieldpackCore
  import FieldpackServices

  /// What a backend keeps of the edits of one device: each once, by its id.
  final class KeptEdits: Sendable {
    struct State {
      /// The ids of the edits, in the order in which each of them came first.
      var order: [String] = []
      /// How many edits came that were there already.
      var repeats = 0
      /// What a device that sends each edit in its turn never does.
      var faults: [String] = []
      /// The features by the backend's own ids.
      var features: [String: String] = [:]
      /// What became of each edit, by its id.
      fileprivate var kept: [String: (content: Int, reply: String)] = [:]
      /// The backend's ids of the features that the device has, by the device's.
      fileprivate var ids: [String: String] = [:]
      fileprivate var replies = 0
      fileprivate var losesReplies = true
    }

    private let state = Locked(State())

    var present: State { state.withLock { $0 } }
    var count: Int { state.withLock { $0.order.count } }

    /// Until then each third reply is lost.
    func loseNoMoreReplies() { state.withLock { $0.losesReplies = false } }

    /// The reply to a request; `nil` where it is lost.
    func answer(_ request: BackendMessage) -> String? {
      state.withLock { state in
        let reply = request.action == .configFull ? "{}" : state.take(request)
        state.replies += 1
        return state.losesReplies && state.replies % 3 == 0 ? nil : reply
      }
    }

    /// A feature as it is compared, of its GeoJSON.
    static func text(_ feature: JSONValue) -> String {
      "\(feature["properties"]?.text ?? "-") \(feature["geometry"]?.text ?? "-")"
    }
  }

  extension KeptEdits.State {
    fileprivate mutating func take(_ request: BackendMessage) -> String? {
      guard let payload = request.payload, let feature = try? JSONValueReader.read(payload),
        let edit = feature["metadata"]?["edit_id"]?.string, let id = feature["id"]?.string
      else {
        faults.append("no edit: \(request)")
        return nil
      }
      // A hash is kept, because many kills mean many edits.
      var hasher = Hasher()
      hasher.combine(request.action)
      hasher.combine(payload)
      let content = hasher.finalize()
      if let known = kept[edit] {
        repeats += 1
        if known.content != content { faults.append("\(edit) came again with another content") }
        return known.reply
      }
      order.append(edit)
      let ownID = apply(request.action, edit, to: id, feature)
      let reply = #"{"result":{"id":"\#(ownID)"},"error":null}"#
      kept[edit] = (content, reply)
      return reply
    }

    /// - Returns: the backend's own id of the feature.
    private mutating func apply(
      _ action: BackendAction?, _ edit: String, to id: String, _ feature: JSONValue
    ) -> String {
      let isNew = action == .createFeature
      if isNew == (ids[id] != nil) { faults.append("\(edit) does not fit to the edits before it") }
      let ownID = ids[id] ?? "feature \(order.count)"
      let isGone = action == .deleteFeature
      ids[id] = isGone ? nil : ownID
      features[ownID] = isGone ? nil : KeptEdits.text(feature)
      return ownID
    }
  }
#endif
