#if PostGIS
  import FieldpackCore
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// Processes that are killed while they divide and balance: 8, or as many as `FIELDPACK_KILLS` says.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct ShardKillTests {
    static let count =
      ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 8

    /// Steps in turn; each second kill is of a balancing process.
    private static let steps: [Sharding.Step] = [.made, .copied, .committed, .switched]

    @Test(arguments: 0..<count)
    func `a killed process loses and doubles nothing`(number: Int) async throws {
      let servers = try await ShardServers.make()
      try servers.fill(ShardServers.areas, count: 300)
      let store = servers.store()
      let before = try await ShardServers.answers(store, "areas")
      let balances = number % 2 == 1
      if balances {
        let two = servers.store(servers: 1)
        _ = try await Sharding(of: two).apply("areas", ranges: 8)
        await two.close()
      }
      let step = Self.steps[number / 2 % Self.steps.count].rawValue
      let folders = ([servers.schema.cluster] + servers.others).map(\.folder)
      let name = servers.schema.name
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [
          folders = folders as [String], name = name as String, step = step as String,
          balances = balances as Bool
        ] in
        let store = ShardServers.store(in: folders, schema: name)
        var sharding = try Sharding(of: store)
        sharding.onStep = { (reached) throws(FieldpackError) in
          if reached.rawValue == step { kill(getpid(), SIGKILL) }
        }
        if balances {
          _ = try await sharding.rebalance("areas", ranges: 8)
        } else {
          _ = try await sharding.apply("areas", ranges: 8)
        }
      }
      #expect(try await ShardServers.answers(store, "areas") == before)
      let layer = try #require(try await store.catalogue().layer("areas"))
      let isDivided = balances || step == Sharding.Step.switched.rawValue
      #expect((layer.shards != nil) == isDivided)
      let report =
        isDivided
        ? try await Sharding(of: store).rebalance("areas", ranges: 8)
        : try await Sharding(of: store).apply("areas", ranges: 8)
      #expect(try await ShardServers.answers(store, "areas") == before)
      for (index, other) in servers.others.enumerated() {
        let server = ShardServers.server(index, other).name
        let expected = report.plan.parts.filter { $0.server == server }.map(\.table).sorted()
        #expect(try servers.tables(on: other) == expected)
      }
      await store.close()
    }
  }
#endif
