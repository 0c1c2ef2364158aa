import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackServices

/// Edits that go one way arrive in order, and count as sent when the receiver has them.
@Suite struct EditDeliveryTests {
  /// A receiver that keeps what it accepts, by a script.
  private final class Receiver: EditTransport {
    enum Step: Sendable { case accept, lose, refuse }

    private let state = Locked((steps: [Step](), got: [OutgoingEdit]()))
    var got: [OutgoingEdit] { state.withLock { $0.got } }

    func next(_ steps: Step...) { state.withLock { $0.steps = steps } }

    func send(_ edits: [OutgoingEdit]) async -> [EditAnswer] {
      state.withLock { state in
        var answers: [EditAnswer] = []
        for edit in edits {
          switch state.steps.isEmpty ? .accept : state.steps.removeFirst() {
          case .accept:
            state.got.append(edit)
            answers.append(.accepted(serverID: "server \(state.got.count)"))
          case .lose:
            // It has the edit, and its answer is lost.
            state.got.append(edit)
            answers.append(.later(FieldpackError(.unavailable, "lost")))
            return answers
          case .refuse: answers.append(.refused(FieldpackError(.constraint, "no")))
          }
        }
        return answers
      }
    }
  }

  private static func survey() async throws -> (SyncSurvey, GeoPackageStore) {
    let survey = try await SyncSurvey(["a"], features: 1)
    return (survey, try await survey.open("a"))
  }

  @Test func `an edit whose answer is lost goes again under its UUID`() async throws {
    let (survey, store) = try await Self.survey()
    defer { withExtendedLifetime(survey) {} }
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      for name in ["one", "two", "three"] {
        try writer.create(
          Feature(geometry: .point(x: 1, y: 2), attributes: ["name": .text(name)]), in: "wells")
      }
      try writer.delete(.integer(1), in: "wells")
    }
    let receiver = Receiver()
    let delivery = EditDelivery(
      of: store, to: "http://office/api?key=secret", by: receiver, forms: ["wells": 12])
    receiver.next(.accept, .lose)
    await #expect(throws: FieldpackError.self) { try await delivery.run() }
    #expect(
      try await store.texts("SELECT sent IS NULL FROM wells_audit WHERE audit_op > 0")
        == ["0", "1", "1", "1"])
    let report = try await delivery.run()
    #expect(report.layers.map(\.sent) == [3])
    let got = receiver.got
    #expect(
      got.map { $0.feature[Column<String>("name")] ?? "" }
        == ["one", "two", "two", "three", "well 0"])
    #expect(got[1].id == got[2].id)
    #expect(got.map(\.operation) == [.insert, .insert, .insert, .insert, .delete])
    #expect(got[0].feature.geometry == .point(x: 1, y: 2) && got[0].author == "author a")
    #expect(got[0].form == 12)
    #expect(
      try await store.texts("SELECT feature, target, id FROM fieldpack_sync_server") == [
        "1|http://office/api|server 5", "2|http://office/api|server 1",
        "3|http://office/api|server 3", "4|http://office/api|server 4",
      ])
    await store.close()
  }

  @Test func `a later edit of a feature goes with the id that the receiver gave to it`()
    async throws
  {
    let (survey, store) = try await Self.survey()
    defer { withExtendedLifetime(survey) {} }
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      let id = try writer.create(Feature(attributes: ["name": "new"]), in: "wells")
      try writer.create(Feature(attributes: ["name": "other"]), in: "wells")
      try writer.update(id, in: "wells", set: ["note": "later"])
    }
    let receiver = Receiver()
    let report = try await EditDelivery(of: store, to: "office", by: receiver).run()
    #expect(report.layers.map(\.sent) == [3])
    #expect(receiver.got.map(\.serverID) == [nil, nil, "server 1"])
    await store.close()
  }

  @Test func `a refused edit is parked, and others go on`() async throws {
    let (survey, store) = try await Self.survey()
    defer { withExtendedLifetime(survey) {} }
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      let id = try writer.create(Feature(attributes: ["name": "bad"]), in: "wells")
      try writer.create(Feature(attributes: ["name": "good"]), in: "wells")
      try writer.update(id, in: "wells", set: ["note": "later"])
    }
    let receiver = Receiver()
    receiver.next(.refuse, .accept)
    let delivery = EditDelivery(of: store, to: "office", by: receiver, batch: 2)
    let first = try await delivery.run().layers[0]
    #expect(first.sent == 1 && first.parked == 2)
    #expect(receiver.got.map { $0.feature[Column<String>("name")] ?? "" } == ["good"])
    let again = try await delivery.run().layers[0]
    #expect(again.sent == 0 && again.parked == 2)
    await store.close()
  }

  @Test func `of positions the newest is sent, and stands for the older ones`() async throws {
    let (survey, store) = try await Self.survey()
    defer { withExtendedLifetime(survey) {} }
    for index in 0..<5 {
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        _ = try writer.create(Feature(attributes: ["name": .text("\(index)")]), in: "wells")
      }
    }
    let receiver = Receiver()
    let delivery = EditDelivery(of: store, to: "office", by: receiver, newestOnly: ["wells"])
    receiver.next(.lose)
    await #expect(throws: FieldpackError.self) { try await delivery.run() }
    #expect(try await store.texts("SELECT 1 FROM wells_audit WHERE sent IS NULL").count == 5)
    _ = try await delivery.run()
    #expect(receiver.got.map { $0.feature[Column<String>("name")] ?? "" } == ["4", "4"])
    #expect(try await store.texts("SELECT 1 FROM wells_audit WHERE sent IS NULL") == [])
    #expect(
      try await store.texts("SELECT count(*), min(newer) FROM fieldpack_sync_superseded")
        == ["4|\(receiver.got[1].id)"])
    await store.close()
  }
}

/// Deliveries begin when the receiver is ready, and go on with each edit.
@Suite struct EditDeliveriesTests {
  private actor Office: EditTransport {
    private(set) var got: [String] = []
    private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    nonisolated func send(_ edits: [OutgoingEdit]) async -> [EditAnswer] {
      for edit in edits { await keep(edit) }
      return edits.map { _ in .accepted(serverID: nil) }
    }

    private func keep(_ edit: OutgoingEdit) {
      got.append(edit.feature[Column<String>("name")] ?? "")
      for waiter in waiters where waiter.count <= got.count { waiter.continuation.resume() }
      waiters.removeAll { $0.count <= got.count }
    }

    func has(_ count: Int) async {
      guard got.count < count else { return }
      await withCheckedContinuation { waiters.append((count, $0)) }
    }
  }

  @Test func `what was edited before goes when the receiver is ready, and then each edit`()
    async throws
  {
    let survey = try await SyncSurvey(["a"], features: 0)
    defer { withExtendedLifetime(survey) {} }
    let store = try await survey.open("a")
    func create(_ name: String) async throws {
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        _ = try writer.create(Feature(attributes: ["name": .text(name)]), in: "wells")
      }
    }
    try await create("before")
    let office = Office()
    let deliveries = EditDeliveries(by: office, to: "office")
    await deliveries.add(store)
    let (readiness, signal) = AsyncStream.makeStream(of: Bool.self)
    let task = Task { await deliveries.follow(readiness) }
    #expect(await office.got == [])
    signal.yield(true)
    await office.has(1)
    try await create("after")
    await office.has(2)
    signal.yield(false)
    signal.finish()
    await task.value
    try await create("later")
    #expect(await office.got == ["before", "after"])
    await store.close()
  }
}
