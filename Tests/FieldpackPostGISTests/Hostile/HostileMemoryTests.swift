#if PostGIS
  import FieldpackCore
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  private typealias Fake = FakeMessages

  /// How much memory the tool takes where a server does not stop to send.
  @Suite(.programs, .enabled(if: Programs.python != nil, Comment(rawValue: Programs.noPython)))
  struct HostileMemoryTests {
    private static let zeros = [UInt8](repeating: 0, count: 1 << 20)

    /// With the most bytes that the tool may take: libpq needs a few times as many for rows of NULL as
    /// such rows have on the way.
    private static let answers: [(String, FakePostgres.Answer, most: Int)] = [
      (
        "FETCH",
        .endless(
          Fake.beginning(Fake.wellTypes) + Fake.message("D", Fake.int2(4), length: 1 << 30),
          piece: zeros), 450 << 20
      ),
      (
        "FETCH",
        .endless(
          Fake.beginning(Fake.wellTypes),
          piece: (0..<10_000).flatMap { _ in Fake.row([nil, nil, nil, nil]) }),
        1_200 << 20
      ),
      (
        "fieldpack_few",
        .endless(
          Fake.beginning(Fake.wellTypes) + Fake.message("D", Fake.int2(4), length: 1 << 30),
          piece: zeros), 450 << 20
      ),
      (
        "COPY",
        .endless(
          Fake.copyBeginning(columns: 4) + Fake.message("d", [], length: 1 << 30), piece: zeros),
        450 << 20
      ),
    ]

    @Test(arguments: answers.indices)
    func `the memory of the tool is bounded`(index: Int) async throws {
      let (word, answer, most) = Self.answers[index]
      let server = try FakePostgres(answer: { $0.contains(word) ? answer : nil })
      let folder = try TemporaryFolder()
      let config = try folder.write(
        """
        {"stores": [{"id": "fake", "store_type": "postgis", "version": "1",
          "uri": "postgresql://eva@127.0.0.1:\(server.port)/fake?sslmode=disable&passfile=%2Fdev%2Fnull"}]}
        """, to: "fake.scfg")
      // Rows in another order come by a cursor, and those with a condition at once.
      let options = ["FETCH": ["--sort", "name"], "fieldpack_few": ["--where", "name = 'x'"]]
      let script = """
        import os, subprocess, sys
        run = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = run.stdout.read().decode()
        _, status, usage = os.wait4(run.pid, 0)
        print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
        print(output)
        """
      let result = try await Program.run(
        Programs.python ?? "",
        ["-c", script, Tool.path, "query", config.path, "wells", "--format", "csv"]
          + (options[word] ?? []))
      let lines = result.output.split(separator: "\n", maxSplits: 1)
      let numbers = try #require(lines.first).split(separator: " ").compactMap { Int($0) }
      try #require(numbers.count == 2, "\(result)")
      #expect(numbers[0] == 1, "\(result.output)")
      #expect(result.output.contains("more than 256 MiB at a time"), "\(result.output)")
      #expect(numbers[1] << 10 < most, "\(word): \(numbers[1]) KiB")
    }
  }
#endif
