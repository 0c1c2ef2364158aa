import Fieldpack
import FieldpackCore
import FieldpackSensors

/// What the page of an operator asks a desk to change.
extension SensorDesk {
  /// Does what a request of the page asks for.
  ///
  /// - Parameters:
  ///   - path: the parts below `/sensors`.
  ///   - conditions: which details of a person a form may replace.
  /// - Returns: the person or the item as it is then; `nil` where the conditions do not hold.
  /// - Throws: `.notFound` where the path names nothing, `.invalidData` for a body that cannot be taken.
  nonisolated func change(
    _ method: String, _ path: [String], _ body: JSONValue, _ conditions: EditConditions
  ) async throws(FieldpackError) -> JSONValue? {
    let rest = Array(path.dropFirst())
    return path.first == "persons"
      ? try await changePerson(method, rest, body, conditions)
      : try await changeItem(method, rest, body)
  }

  private nonisolated func changePerson(
    _ method: String, _ path: [String], _ body: JSONValue, _ conditions: EditConditions
  ) async throws(FieldpackError) -> JSONValue? {
    guard let name = path.first else {
      let person = try await persons.add(try SensorDocuments.details(body))
      return try await changed(person.key)
    }
    let key = try await persons.person(name).key
    switch (method, path.count == 2 ? path[1] : nil) {
    case ("PUT", nil):
      let details = try SensorDocuments.details(body)
      let isDone = try await persons.edit(key, to: details) { (old) throws(FieldpackError) in
        try conditions.hold { _ in Array(SensorDocuments.details(old).text.utf8) }
      }
      guard isDone else { return nil }
    case ("DELETE", nil):
      for item in try await persons.items(of: key) { await reset(item.key) }
      try await persons.delete([key])
      changes.send(.gone(person: key))
      return .object([])
    case ("POST", "duplicate"):
      return try await changed(try await persons.duplicate(key).key)
    case ("POST", "select"): try await select(person: key)
    case ("POST", "items"):
      try await persons.add(try SensorDocuments.draft(body), to: key)
    default: throw FieldpackError(.notFound, "there is no such address")
    }
    return try await changed(key)
  }

  private nonisolated func changed(
    _ person: KeyTuple
  ) async throws(FieldpackError) -> JSONValue {
    changes.send(.person(person))
    return try await document(ofPerson: person)
  }

  private nonisolated func changeItem(
    _ method: String, _ path: [String], _ body: JSONValue
  ) async throws(FieldpackError) -> JSONValue {
    let rest = path.count == 2 ? path[1] : nil
    if method == "PATCH", rest == nil, body["modality"] == nil, body["index"] == nil {
      return try await annotate(try persons.key(ofItem: path.first ?? ""), body)
    }
    let item = try await persons.item(path.first ?? "")
    switch (method, rest) {
    case ("DELETE", nil):
      await reset(item.key)
      try await persons.delete(items: [item.key])
      return try await changed(item.person)
    case ("PATCH", nil): return try await edit(item, body)
    case ("POST", "tap"): try await tap(item)
    case ("POST", "select"): try await select(item)
    case ("POST", "clear"):
      await reset(item.key)
      try await persons.clear([item.key])
      changes.send(.item(item.key))
    default: throw FieldpackError(.notFound, "there is no such address")
    }
    return try await document(ofItem: item.key)
  }

  /// The whole body is read before anything is changed.
  private nonisolated func edit(
    _ item: Item, _ body: JSONValue
  ) async throws(FieldpackError) -> JSONValue {
    let draft = body["modality"] == nil ? nil : try draft(of: item, body)
    _ = try SensorDocuments.annotations(body)
    _ = try SensorDocuments.text("notes", body)
    let index = try SensorDocuments.index(body)
    if let draft {
      await reset(item.key)
      try await persons.set(item.key, to: draft)
    }
    let document = try await annotate(item.key, body)
    guard let index else { return document }
    try await persons.move(item.key, to: index)
    return try await changed(item.person)
  }

  private nonisolated func annotate(
    _ key: KeyTuple, _ body: JSONValue
  ) async throws(FieldpackError) -> JSONValue {
    let annotations = try SensorDocuments.annotations(body)
    let notes = try SensorDocuments.text("notes", body)
    let item = try await persons.annotate(key, annotations, notes: notes)
    changes.send(.item(key))
    return SensorDocuments.item(item, await button(of: item))
  }

  /// What the page knows nothing of stays: the position, and the other parameters of the sensor.
  private nonisolated func draft(
    of item: Item, _ body: JSONValue
  ) throws(FieldpackError) -> ItemDraft {
    var draft = try SensorDocuments.draft(body)
    draft.position = item.position
    let address = draft.device?.address
    if var kept = item.device, body["device"] == nil || kept.address.uri == address?.uri {
      kept.address = address ?? kept.address
      draft.device = kept
    }
    return draft
  }
}
