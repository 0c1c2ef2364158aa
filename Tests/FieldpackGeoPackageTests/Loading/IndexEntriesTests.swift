import FieldpackCore
import FieldpackGeometry
import FieldpackRTree
import FieldpackSQLite
import Testing

@testable import FieldpackGeoPackage

@Suite struct IndexEntriesTests {
  @Test func `its nodes are read back, and a broken tree is told`() throws {
    let connection = try Connection(inMemory: .bulk)
    try connection.execute("PRAGMA page_size = 512")
    try connection.execute("CREATE VIRTUAL TABLE tree USING rtree(id, minx, maxx, miny, maxy)")
    let file = try GeoPackageSession(connection, store: "s")
    let entries = (0..<2602).map { index in
      let (x, y) = (Double(index % 51), Double(index / 51))
      return RTreeEntry(Int64(index * 3 - 5), Envelope(minX: x, minY: y, maxX: x + 2, maxY: y + 2))
    }
    var tree = PackedRTree()
    for entry in entries { try tree.add(entry) }
    try tree.write(to: file.shadow(ofRTree: "tree"))
    let table = LayerTable(
      layer: Layer(schema: Schema(layer: "a"), kind: .features), table: "a", idSQL: "fid")
    let reading = IndexEntries(file: file, table: table)
    var found: [RTreeEntry] = []
    #expect(try reading.visitTree("tree") { found.append($0) })
    #expect(found.sorted { $0.id < $1.id } == entries.sorted { $0.id < $1.id })
    for damage in [
      // A circle, a depth beyond all reason, a cell count beyond the node, a missing node.
      "UPDATE tree_node SET data = (SELECT data FROM tree_node WHERE nodeno = 1) WHERE nodeno > 1",
      "UPDATE tree_node SET data = x'ffff' || substr(data, 3) WHERE nodeno = 1",
      "UPDATE tree_node SET data = substr(data, 1, 2) || x'ffff' || substr(data, 5)",
      "DELETE FROM tree_node WHERE nodeno = 9",
    ] {
      try connection.execute("SAVEPOINT a")
      try connection.execute(damage)
      #expect(try !reading.visitTree("tree") { _ in }, "\(damage)")
      try connection.execute("ROLLBACK TO a")
    }
  }

  @Test(arguments: [512, 4096, 65_536])
  func `is packed anew or grown in files of any page size`(pageSize: Int) async throws {
    let package = try TestPackage()
    try package.run("PRAGMA page_size = \(pageSize); VACUUM")
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Schema(layer: "points", geometry: GeometryColumn(type: .point)))
      }
    }
    let box = Envelope(minX: 12.5, minY: 51.5, maxX: 13.5, maxY: 52.5)
    var total = 0
    for count in [1, 51, 400, 2000, 20, 3000] {
      try package.append(count, to: "points")
      total += count
      #expect(try package.faults() == [])
      try await package.withStore { (store) async throws in
        let filter = Filter.intersects(box)
        let expected = try await store.evaluatedIDs("points", filter)
        #expect(try await store.ids(Query("points", where: filter)) == expected)
        #expect(try await store.count(Query("points")) == total)
      }
    }
    #expect(
      try package.rows("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == ["7"])
  }
}
