import Fieldpack
import FieldpackCore
import FieldpackField
import FieldpackSensors

/// Tells one page what happens to persons and items, as server-sent events.
struct SensorEvents: Sendable {
  let desk: SensorDesk
  /// Where what a slow page has not taken is kept, up to a limit.
  let room: SpillRoom
  let isStillAllowed: (@Sendable () -> Bool)?

  /// Proxies close a connection that says nothing for long.
  private static let pause = Duration.seconds(15)

  func stream() throws(FieldpackError) -> ResponseStream {
    let stream = try ResponseStream(packs: false, in: room)
    let changes = desk.changes.subscribe()
    Task {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await send(changes, to: stream) }
        group.addTask {
          while !Task.isCancelled {
            try? await Task.sleep(for: Self.pause)
            do throws(FieldpackError) { try stream.send(Array(": here\n\n".utf8)) } catch { return }
          }
        }
        // The client has gone, or the desk has closed.
        await group.next()
        group.cancelAll()
      }
      stream.finish()
    }
    return stream
  }

  private func send(_ changes: Subscription<SensorDesk.Change>, to stream: ResponseStream) async {
    do throws(FieldpackError) {
      try stream.send(Array("retry: 1000\n\n".utf8))
      for await change in changes.stream {
        guard isStillAllowed?() ?? true else { return }
        // A client that comes again reads everything anew.
        guard changes.takeLost() == 0 else { return }
        guard let (kind, data) = try? await event(change) else { continue }
        try stream.send(Array("event: \(kind)\ndata: \(data.text)\n\n".utf8))
      }
    } catch {}
  }

  /// `nil` for what is gone by now.
  private func event(
    _ change: SensorDesk.Change
  ) async throws(FieldpackError) -> (String, JSONValue)? {
    switch change {
    case .person(let key): return ("person", try await desk.document(ofPerson: key))
    case .item(let key): return ("item", try await desk.document(ofItem: key))
    case .gone(let person): return ("gone", .members(["person": SensorDocuments.number(person)]))
    case .told(let item, let text):
      return ("told", .members(["item": SensorDocuments.number(item), "text": .text(text)]))
    }
  }
}

extension SensorDesk {
  nonisolated func document(ofItem key: KeyTuple) async throws(FieldpackError) -> JSONValue {
    let item = try await persons.item("\(key.feature)")
    return SensorDocuments.item(item, await button(of: item))
  }

  nonisolated func document(ofPerson key: KeyTuple) async throws(FieldpackError) -> JSONValue {
    let person = try await persons.person("\(key.feature)")
    var items: [JSONValue] = []
    for item in try await persons.items(of: person.key) {
      items.append(SensorDocuments.item(item, await button(of: item)))
    }
    return SensorDocuments.person(person, items)
  }

  /// All persons with their items.
  nonisolated func documents() async throws(FieldpackError) -> JSONValue {
    var items: [KeyTuple: [JSONValue]] = [:]
    for item in try await persons.items() {
      items[item.person, default: []].append(SensorDocuments.item(item, await button(of: item)))
    }
    return .array(
      try await persons.persons().map { SensorDocuments.person($0, items[$0.key] ?? []) })
  }
}
