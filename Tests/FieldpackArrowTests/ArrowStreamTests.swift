import CArrow
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQL
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackArrow

/// Record batches through the C interface, as a C library would read them.
@Suite(.programs) struct ArrowStreamTests {
  private let folder = try? TemporaryFolder()

  private static let wells = Schema(
    layer: "wells", geometry: GeometryColumn(type: .point, srs: SRS("EPSG", 25833)),
    columns: [
      ColumnDefinition("name", .text()), ColumnDefinition("depth", .double),
      ColumnDefinition("visits", .mediumInt), ColumnDefinition("open", .boolean),
      ColumnDefinition("day", .date), ColumnDefinition("seen", .dateTime),
      ColumnDefinition("raw", .blob()),
    ])

  private static let features: [Feature] = [
    Feature(
      id: 1, geometry: .point(x: 1, y: 2),
      attributes: [
        "name": "Ost", "depth": 1.5, "visits": 7, "open": true,
        "day": .date(CalendarDate(dayNumber: -1)),
        "seen": .dateTime(Instant(milliseconds: -1)), "raw": .blob([1, 2]),
      ]),
    Feature(id: 2),
    Feature(
      id: 9, geometry: .point(x: 3, y: 4),
      attributes: [
        "name": "é", "depth": -2.0, "visits": -7, "open": false,
        "day": .date(CalendarDate(dayNumber: 19_000)),
        "seen": .dateTime(Instant(milliseconds: 1_700_000_000_123)), "raw": .blob([]),
      ]),
  ]

  /// A file with the features above, or points of so many ids.
  private func file(points count: Int = 0) async throws -> String {
    let path = try #require(folder).file("wells.gpkg").path
    _ = try GeoPackageBulkWriter(creating: path, store: "wells").commit()
    let store = try await GeoPackageStore(path: path, id: "wells")
    try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(Self.wells)
      for feature in count == 0 ? Self.features : [] { try writer.create(feature, in: "wells") }
      for id in 0..<count {
        let point = Feature(
          geometry: .point(x: Double(id), y: 0), attributes: ["visits": .integer(Int64(id))])
        try writer.create(point, in: "wells")
      }
    }
    await store.close()
    return path
  }

  private func withStream<R: Sendable>(
    _ query: Query, of path: String, _ body: @escaping @Sendable (inout ArrowReader) throws -> R
  ) async throws -> R {
    let store = try await GeoPackageStore(path: path, id: "wells")
    let stream = try await store.arrowStream(query)
    let result = try await onThread {
      var reader = ArrowReader { stream.export(to: $0) }
      defer { reader.release() }
      return try body(&reader)
    }
    await store.close()
    return result
  }

  @Test func `describes the columns of a layer`() async throws {
    let path = try await file()
    let fields = try await withStream(Query("wells"), of: path) { try $0.schema() }
    #expect(
      fields == [
        "fid l", "name u ?", "depth g ?", "visits l ?", "open b ?", "day tdD ?", "seen tsm:UTC ?",
        "raw z ?",
        #"geom z ? ARROW:extension:name=geoarrow.wkb ARROW:extension:metadata={"crs":"EPSG:25833","crs_type":"authority_code"}"#,
      ])
    let some = Query("wells").select(["visits"]).withoutGeometry()
    #expect(try await withStream(some, of: path) { try $0.schema() } == ["fid l", "visits l ?"])
  }

  @Test func `gives values and nulls`() async throws {
    let path = try await file()
    let rows = try await withStream(Query("wells"), of: path) { try $0.rows() }
    #expect(
      rows == [
        "1|Ost|1.5|7|true|-1|-1|0102|0101000000000000000000f03f0000000000000040",
        "2|-|-|-|-|-|-|-|-",
        "9|é|-2.0|-7|false|19000|1700000000123||010100000000000000000008400000000000001040",
      ])
    let none = Query("wells", where: Column<String>("name") == "x")
    #expect(try await withStream(none, of: path) { try $0.rows() } == [])
  }

  @Test func `gives a large layer in batches, in order`() async throws {
    let path = try await file(points: 40_000)
    let counts = try await withStream(Query("wells").select(["visits"]), of: path) { reader in
      var counts: [Int] = []
      var next: Int64 = 0
      while let batch = try reader.next() {
        let count = Int(batch.pointee.length)
        counts.append(count)
        let visits = batch.pointee.children[1]!.pointee
        let values = visits.buffers[1]!.assumingMemoryBound(to: Int64.self)
        for index in 0..<count {
          #expect(values[index] == next)
          next += 1
        }
        reader.release(batch)
      }
      return counts
    }
    #expect(counts.reduce(0, +) == 40_000 && counts.count > 1)
  }

  @Test func `keeps a column that was taken out of its batch`() async throws {
    let path = try await file()
    try await withStream(Query("wells"), of: path) { reader in
      let batch = try #require(try reader.next())
      var taken = batch.pointee.children[1]!.pointee
      batch.pointee.children[1]!.pointee.release = nil
      reader.release(batch)
      let bytes = taken.buffers[2]!.assumingMemoryBound(to: UInt8.self)
      #expect(
        String(decoding: UnsafeBufferPointer(start: bytes, count: 5), as: UTF8.self) == "Osté")
      taken.release(&taken)
      #expect(taken.release == nil)
    }
  }

  @Test func `turns values that are not of the column's type to null, and says so`() async throws {
    let path = try await file()
    let store = try await GeoPackageStore(path: path, id: "wells")
    _ = try await store.run(
      sql: "UPDATE wells SET visits = 'many', name = x'00', seen = 'soon', depth = 4 WHERE fid = 1;"
        + "UPDATE wells SET name = CAST(x'61ff' AS TEXT) WHERE fid = 9")
    let stream = try await store.arrowStream(
      Query("wells").select(["name", "depth", "visits", "seen"]).withoutGeometry())
    let rows = try await onThread {
      var reader = ArrowReader { stream.export(to: $0) }
      defer { reader.release() }
      return try reader.rows()
    }
    #expect(rows == ["1|-|4.0|-|-", "2|-|-|-|-", "9|a\u{FFFD}|-2.0|-7|1700000000123"])
    #expect(
      Set(stream.report.current.notes) == [
        "column 'name' holds values that are not of its type; they are null in Arrow",
        "column 'visits' holds values that are not of its type; they are null in Arrow",
        "column 'seen' holds values that are not of its type; they are null in Arrow",
      ])
    await store.close()
  }

  @Test func `names what went wrong`() async throws {
    let path = try await file(points: 3)
    let store = try await GeoPackageStore(path: path, id: "wells")
    await #expect(throws: FieldpackError.self) { try await store.arrowStream(Query("lakes")) }
    let stream = try await store.arrowStream(Query("wells"))
    await store.close()
    let error = await #expect(throws: ArrowReader.Failure.self) {
      try await onThread {
        var reader = ArrowReader { stream.export(to: $0) }
        defer { reader.release() }
        _ = try reader.next()
      }
    }
    #expect(error?.code == EIO && error?.message == "store 'wells' is closed")
  }

  @Test func `opens a file for C`() async throws {
    let path = try await file(points: 50)
    try await onThread {
      var box = [9.5, -1, 12.5, 1]
      var code: Int32 = -1
      var reader = ArrowReader { code = openArrow(path, nil, &box, $0, nil) }
      #expect(code == 0)
      let ids = try reader.rows().map { String($0.prefix(2)) }
      #expect(ids == ["11", "12", "13"])
      reader.release()
      var message: UnsafeMutablePointer<CChar>?
      let none = UnsafeMutablePointer<ArrowArrayStream>.allocate(capacity: 1)
      defer { none.deallocate() }
      #expect(openArrow(path, "lakes", nil, none, &message) == ENOENT)
      #expect(
        message.map { String(cString: $0) }
          == "layer 'lakes' is not in store 'file' (it has: wells)")
      freeArrow(message)
    }
  }

  // MARK: Another library

  @Test(.enabled(if: Programs.arrowPython != nil, Comment(rawValue: Programs.noArrowPython)))
  func `is read by pyarrow as pyogrio reads the file`() async throws {
    let path = try await file()
    let script = try #require(folder).file("compare.py")
    try Data(Self.comparison.utf8).write(to: script)
    #if canImport(Darwin)
      let library = Tool.built("libFieldpackArrow.dylib")
    #else
      let library = Tool.built("libFieldpackArrow.so")
    #endif
    let result = try await Program.run(
      Programs.arrowPython ?? "", [script.path, library, path, "wells"])
    #expect(result.output == "3 rows equal, 9 columns\n", "\(result)")
  }

  private static let comparison = """
    import ctypes, sys
    import pyarrow as pa, pyogrio

    library, path, layer = sys.argv[1:]
    fieldpack = ctypes.CDLL(library)
    stream = ctypes.create_string_buffer(40)
    error = ctypes.c_char_p()
    code = fieldpack.fieldpack_arrow_open(
        path.encode(), layer.encode(), None, stream, ctypes.byref(error))
    assert code == 0, error.value
    ours = pa.RecordBatchReader._import_from_c(ctypes.addressof(stream)).read_all()
    _, theirs = pyogrio.read_arrow(path, layer=layer, return_fids=True)
    for name in ours.column_names:
        other = {"fid": "fid", "geom": "geom"}.get(name, name)
        if other not in theirs.column_names:
            other = "wkb_geometry"
        left, right = ours.column(name), theirs.column(other)
        left = left.combine_chunks()
        storage = left.storage if isinstance(left, pa.ExtensionArray) else left
        right = right.combine_chunks()
        right = right.storage if isinstance(right, pa.ExtensionArray) else right
        if pa.types.is_timestamp(storage.type):
            storage, right = storage.cast(pa.int64()), right.cast(storage.type).cast(pa.int64())
        right = right.cast(storage.type)
        assert storage.equals(right), (name, storage, right)
    print(f"{ours.num_rows} rows equal, {ours.num_columns} columns")

    """
}
