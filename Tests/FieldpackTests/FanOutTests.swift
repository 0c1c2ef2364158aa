import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

@Suite struct FanOutTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Answers, or fails when it is asked, counted or read.
  private struct Faulty: Store {
    enum Fault: Sendable { case asking, reading }
    let id: StoreID
    let fault: Fault

    private var error: FieldpackError { FieldpackError(.io, "the disk is gone") }
    func layers() async throws(FieldpackError) -> [Layer] { throw error }
    func schemas() async throws(FieldpackError) -> [Schema] {
      if fault == .asking { throw error }
      return [Schema(layer: "wells", columns: [])]
    }
    func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
      if fault == .asking { throw error }
      let error = error
      return FeatureBatches { { () async throws(FieldpackError) in throw error } }
    }
    func scan<S: FeatureSink & Sendable>(
      _ query: Query, into sink: S, report: QueryReport
    ) async throws(FieldpackError) -> S { throw error }
    func count(_ query: Query) async throws(FieldpackError) -> Int { throw error }
    func feature(
      _ id: FeatureID, in layer: LayerID
    ) async throws(FieldpackError) -> Feature? { throw error }
    func read<R: Sendable>(
      _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R { throw error }
    func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] { throw error }
    func close() async {}
  }

  private func member(_ store: any Store) -> Workspace.Member {
    Workspace.Member(
      config: StoreConfig(id: store.id, type: "test.1", uri: ""), store: store, state: .open)
  }

  private func wells(_ count: Int, id: StoreID) async throws -> FileStore {
    let lines = (1...count).map { number in
      #"{"type":"Feature","id":\#(number),"properties":{"n":\#(number)},"#
        + #""geometry":{"type":"Point","coordinates":[\#(number % 90),2]}}"#
    }
    let file = try folder.write(lines.joined(separator: "\n"), to: "\(id).geojsonl")
    var options = FileStore.Options()
    options.cache = .private
    options.layer = "wells"
    return try await FileStore(path: file.path, id: id, options: options)
  }

  private func ids(_ batches: FeatureBatches) async throws -> [String] {
    var ids: [String] = []
    for try await batch in batches { ids += batch.ids.map { "\(batch.store)/\($0)" } }
    return ids
  }

  @Test(arguments: [false, true], ["asking", "reading"])
  func `a store that fails does not stop the others`(isNamed: Bool, fault: String) async throws {
    let faulty = Faulty(id: "faulty", fault: fault == "asking" ? .asking : .reading)
    let good = try await wells(2, id: "good")
    let workspace = Workspace(members: [member(faulty), member(good)])
    for query in [Query(), Query().order(by: [Order("n", descending: true)]).in(layers: ["wells"])]
    {
      let asked = isNamed ? query.in(stores: ["faulty", "good"]) : query
      do {
        let batches = try await workspace.query(asked)
        #expect(try await ids(batches).sorted() == ["good/1", "good/2"])
        #expect(batches.report.current.failures.map(\.store) == ["faulty"])
        #expect(!isNamed)
        let report = QueryReport()
        #expect(try await workspace.count(asked, report: report) == 2)
        #expect(report.current.failures.map(\.store) == ["faulty"])
      } catch let error as FieldpackError {
        #expect(isNamed && error.code == .io)
      }
    }
    await workspace.close()
  }

  @Test func `limits and offsets at the end of the numbers hold`() async throws {
    let workspace = Workspace(
      members: [member(try await wells(3, id: "a")), member(try await wells(2, id: "b"))])
    let most = Query().limit(.max, offset: 1)
    let expected = ["a/2", "a/3", "b/1", "b/2"]
    #expect(try await ids(try await workspace.query(most)) == expected)
    #expect(try await workspace.count(most) == 4)
    #expect(try await workspace.explain(most).count == 2)
    let ordered = most.order(by: [Order("n")])
    #expect(try await ids(try await workspace.query(ordered)) == ["b/1", "a/2", "b/2", "a/3"])
    #expect(try await ids(try await workspace.query(Query().limit(2, offset: .max))) == [])
    await workspace.close()
  }

  @Test func `a limit that ends early gives the readers back and keeps the notes`() async throws {
    let workspace = Workspace(
      members: [member(try await wells(3000, id: "a")), member(try await wells(2, id: "b"))])
    let batches = try await workspace.query(Query().limit(3))
    #expect(try await ids(batches) == ["a/1", "a/2", "a/3"])
    await workspace.close()
  }

  @Test func `a layer named twice answers once`() async throws {
    let workspace = Workspace(members: [member(try await wells(2, id: "a"))])
    let query = Query("wells", "WELLS")
    #expect(try await ids(try await workspace.query(query)) == ["a/1", "a/2"])
    #expect(try await workspace.count(query) == 2)
    await workspace.close()
  }
}
