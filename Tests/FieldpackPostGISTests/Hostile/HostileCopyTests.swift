#if PostGIS
  import FieldpackCore
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  private typealias Fake = FakeMessages

  /// Servers that send otherwise than PostgreSQL what is copied from them.
  @Suite(.programs) struct HostileCopyTests {
    private struct Piece: PieceSink {
      var ids: [FeatureID] = []
      var isFull: Bool { true }
      mutating func begin(_ schema: Schema) {}
      mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) { ids.append(row.id) }
    }

    private func copied(
      _ server: FakePostgres, _ limits: PostgresLimits = PostgresLimits()
    ) async throws -> [FeatureID] {
      let store = server.store(limits)
      defer { Task { await store.close() } }
      var ids: [FeatureID] = []
      for try await piece in try await store.pieces(of: Query("wells"), into: { Piece() }) {
        ids += piece.ids
      }
      return ids
    }

    private static let header = Fake.copyBeginning(columns: 4)

    private static let wrongCopies: [(String, FakePostgres.Answer, FieldpackError.Code)] = [
      (
        "no header", .cut(Fake.message("H", [1, 0, 0]) + Fake.data(Fake.text("a\tb\n"))),
        .invalidData
      ),
      ("a field too few", .cut(header + Fake.data(Fake.copyRow([nil, nil, nil]))), .invalidData),
      (
        "a field too many", .cut(header + Fake.data(Fake.copyRow(Fake.well(1) + [nil]))),
        .invalidData
      ),
      (
        "a field of a negative length",
        .cut(header + Fake.data(Fake.int2(4) + Fake.int4(-7))), .invalidData
      ),
      (
        "a number of three bytes",
        .cut(header + Fake.data(Fake.copyRow([Fake.int8(1), nil, [1, 2, 3], nil]))), .invalidData
      ),
      (
        "no end mark",
        .messages(
          header + Fake.message("c", []) + Fake.complete("COPY 0") + Fake.ready(true)), .invalidData
      ),
      ("data of 1 GB", .cut(header + Fake.message("d", [], length: 1 << 30)), .unavailable),
      ("another message", .cut(header + Fake.message("?", [1])), .unavailable),
      ("rows in place of COPY", .cut(Fake.rows(Fake.wellTypes, [])), .invalidArgument),
      (
        "data without end",
        .endless(header + Fake.message("d", [], length: 1 << 30), piece: HostileServerTests.piece),
        .unsupported
      ),
      (
        "a field without end",
        .endless(
          header + Fake.data(Fake.int2(4) + Fake.int4(1 << 29)),
          piece: Fake.data(HostileServerTests.piece)),
        .unsupported
      ),
    ]

    @Test(arguments: wrongCopies.indices)
    func `a COPY of another form is refused`(index: Int) async throws {
      let (name, answer, code) = Self.wrongCopies[index]
      let server = try FakePostgres(answer: { $0.hasPrefix("COPY") ? answer : nil })
      var limits = PostgresLimits()
      (limits.answerBytes, limits.ending) = (8 << 20, .milliseconds(100))
      let error = await #expect(throws: FieldpackError.self) { try await copied(server, limits) }
      #expect(error?.code == code, "\(name): \(error?.message ?? "")")
      #expect(error?.location.store == "survey", "\(name)")
      #expect(server.endlessBytes.withLock { $0 } < HostileServerTests.most, "\(name)")
    }

    @Test func `a right COPY is read`() async throws {
      #expect(try await copied(try FakePostgres()) == [1, 2])
    }
  }
#endif
