#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  /// Layers divided over four servers.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct ShardingTests {
    @Test(arguments: [ShardServers.points, ShardServers.areas])
    func `a divided layer answers as it did`(table: Schema) async throws {
      let servers = try await ShardServers.make()
      try servers.fill(table, count: 3_000)
      let store = servers.store()
      let before = try await ShardServers.answers(store, table.layer)
      let schema = try await store.schemas()
      let report = try await Sharding(of: store).apply(table.layer)
      #expect(report.copiedCount == 3_001)
      #expect(report.plan.parts.count == 17)
      #expect(report.plan.counts.reduce(0, +) == 3_001)
      // Points and areas without a place are on the store's server, on top of its share.
      for count in report.plan.counts.dropFirst() { #expect((700...780).contains(count)) }
      #expect(try await ShardServers.answers(store, table.layer) == before)
      #expect(try await store.schemas().map(\.columns) == schema.map(\.columns))
      #expect(try await store.schemas().map(\.idColumn) == ["fid"])
      #expect(try await store.layers().map(\.hasSpatialIndex) == [true])
      let feature = try await store.feature(.integer(7), in: table.layer)
      #expect(feature == before[0].features[6])
      for (number, other) in servers.others.enumerated() {
        let expected = report.plan.parts.filter { $0.server == report.plan.servers[number + 1] }
        #expect(try servers.tables(on: other) == expected.map(\.table).sorted())
      }
      await store.close()
    }

    @Test func `a plan changes nothing`() async throws {
      let servers = try await ShardServers.make()
      try servers.fill(ShardServers.points, count: 100)
      let store = servers.store()
      let report = try await Sharding(of: store).plan("points", ranges: 3)
      #expect(report.plan.parts.count == 5)
      #expect(report.script.contains("CREATE FOREIGN TABLE"))
      #expect(try servers.others.flatMap { try servers.tables(on: $0) } == [])
      #expect(try await store.layers().map(\.featureCount) == [101])
      await store.close()
    }

    @Test func `a box asks the servers of its place only; counts and extents are made there`()
      async throws
    {
      let servers = try await ShardServers.make()
      try servers.fill(ShardServers.points, count: 2_000)
      let store = servers.store()
      let report = try await Sharding(of: store).apply("points")
      let last = try #require(report.plan.parts.last)
      // The numbers of the curve end in the south-east of the world.
      let box = Envelope(minX: 170, minY: -80, maxX: 175, maxY: -75)
      let plan = try await store.explain(Query("points", where: .intersects(box)))[0]
      #expect(plan.plan.filter { $0.contains("Scan") && $0.contains("_g1_p") }.count == 1)
      #expect(plan.plan.contains { $0.contains(last.table) })
      let catalogue = try await store.catalogue()
      let layer = try PostGISPlanner(catalogue: catalogue).plan(
        Query("points", where: Column<Int64>("depth") > 3)
      ).layers[0]
      let extent = try #require(layer.layer.shards?.extent("geom"))
      for (sql, values) in [layer.countStatement, (extent, [])] {
        let lines = try await store.pool.run { (connection) throws(FieldpackError) -> [String] in
          let rows = try connection.execute("EXPLAIN (COSTS OFF, VERBOSE) \(sql)", values)
          return (0..<rows.count).map { rows.text($0, 0) ?? "" }
        }
        #expect(lines.filter { $0.contains("Async Foreign Scan") }.count == 12)
        #expect(lines.filter { $0.contains("Remote SQL: SELECT count(*)") }.count == 12)
        #expect(!lines.contains { $0.contains("Foreign Scan on") })
      }
      await store.close()
    }

    @Test func `a new server gets a share of the features, and one that leaves gives all back`()
      async throws
    {
      let servers = try await ShardServers.make()
      try servers.fill(ShardServers.areas, count: 3_000)
      let two = servers.store(servers: 1)
      let before = try await ShardServers.answers(two, "areas")
      _ = try await Sharding(of: two).apply("areas", ranges: 12)
      await two.close()
      let four = servers.store()
      let report = try await Sharding(of: four).rebalance("areas", ranges: 12)
      #expect(report.copiedCount > 1_000 && report.copiedCount < 2_200)
      for count in report.plan.counts { #expect((500...1_100).contains(count)) }
      #expect(try await ShardServers.answers(four, "areas") == before)
      let again = try await Sharding(of: four).rebalance("areas", ranges: 12)
      #expect(again.copiedCount == 0)
      let leaving = ShardServers.server(0, servers.others[0]).name
      let last = try await Sharding(of: four, without: [leaving]).rebalance("areas", ranges: 12)
      #expect(last.plan.parts.allSatisfy { $0.server != leaving })
      #expect(try servers.tables(on: servers.others[0]) == [])
      #expect(try await ShardServers.answers(four, "areas") == before)
      await four.close()
    }

    @Test(arguments: Sharding.Step.allCases)
    func `dividing that ends early leaves the layer as it was`(step: Sharding.Step) async throws {
      let servers = try await ShardServers.make()
      try servers.fill(ShardServers.areas, count: 300)
      let store = servers.store()
      let before = try await ShardServers.answers(store, "areas")
      var sharding = try Sharding(of: store)
      sharding.onStep = { (reached) throws(FieldpackError) in
        if reached == step { throw FieldpackError(.interrupted, "stopped") }
      }
      await #expect(throws: FieldpackError.self) { _ = try await sharding.apply("areas") }
      #expect(try await ShardServers.answers(store, "areas") == before)
      let isDone = step == .switched || step == .dropped
      let layer = try #require(try await store.catalogue().layer("areas"))
      #expect((layer.shards != nil) == isDone)
      let report =
        isDone
        ? try await Sharding(of: store).rebalance("areas")
        : try await Sharding(of: store).apply("areas")
      try check(report, servers)
      #expect(try await ShardServers.answers(store, "areas") == before)
      await store.close()
    }

    @Test(arguments: Sharding.Step.allCases)
    func `balancing that ends early loses and doubles nothing`(step: Sharding.Step) async throws {
      let servers = try await ShardServers.make()
      try servers.fill(ShardServers.areas, count: 300)
      let two = servers.store(servers: 1)
      let before = try await ShardServers.answers(two, "areas")
      _ = try await Sharding(of: two).apply("areas", ranges: 8)
      await two.close()
      let store = servers.store()
      var sharding = try Sharding(of: store)
      sharding.onStep = { (reached) throws(FieldpackError) in
        if reached == step { throw FieldpackError(.interrupted, "stopped") }
      }
      await #expect(throws: FieldpackError.self) {
        _ = try await sharding.rebalance("areas", ranges: 8)
      }
      #expect(try await ShardServers.answers(store, "areas") == before)
      try check(try await Sharding(of: store).rebalance("areas", ranges: 8), servers)
      #expect(try await ShardServers.answers(store, "areas") == before)
      await store.close()
    }

    /// The servers have the tables of the plan and no others.
    private func check(_ report: Sharding.Report, _ servers: ShardServers) throws {
      for (number, other) in servers.others.enumerated() {
        let name = ShardServers.server(number, other).name
        let expected = report.plan.parts.filter { $0.server == name }.map(\.table).sorted()
        #expect(try servers.tables(on: other) == expected)
      }
    }

    @Test func `a stopped server is named, or passed over where that is wanted`() async throws {
      let schema = try await TestSchema.make()
      let servers = ShardServers(schema: schema, others: [try TestCluster()])
      try servers.fill(ShardServers.points, count: 400)
      let store = servers.store(servers: 1)
      let name = store.servers[0].name
      let report = try await Sharding(of: store).apply("points")
      let all = try await store.count(Query("points"))
      #expect(all == 401)
      try servers.others[0].stop()
      let message = "could not connect to server \"\(name)\""
      await #expect {
        _ = try await store.count(Query("points"))
      } throws: { error in
        (error as? FieldpackError)?.code == .unavailable
          && (error as? FieldpackError)?.message == message
      }
      await #expect {
        for try await _ in try await store.query(Query("points")) {}
      } throws: { error in
        (error as? FieldpackError)?.code == .unavailable
          && (error as? FieldpackError)?.message == message
      }
      let batches = try await store.query(Query("points").skippingErrors(true))
      var count = 0
      for try await batch in batches { count += batch.count }
      #expect(count == report.plan.counts[0])
      #expect(batches.report.current.failures.map(\.error.message) == [message])
      #expect(try await store.count(Query("points").skippingErrors(true)) == count)
      // A box that does not touch the server is answered all the same.
      let own = report.plan.parts[1].range
      let box = Envelope(minX: -180, minY: -90, maxX: -179, maxY: -89)
      #expect(own.lowerBound == 0)
      #expect(try await store.count(Query("points", where: .intersects(box))) == 0)
      // What needs the server says so, and changes nothing.
      await #expect {
        _ = try await Sharding(of: store).rebalance("points")
      } throws: { error in
        (error as? FieldpackError)?.message.hasPrefix("server '\(name)': no connection to ") == true
      }
      await store.close()
    }

    @Test func `features of a divided layer are made, moved and deleted`() async throws {
      let servers = try await ShardServers.make()
      try servers.fill(ShardServers.points, count: 400)
      let store = servers.store()
      let report = try await Sharding(of: store).apply("points")
      let (first, last) = (report.plan.parts[1], report.plan.parts[report.plan.parts.count - 1])
      let corner = Geometry.point(x: -179, y: -89)
      let other = Geometry.point(x: 179, y: -89)
      let new = try await store.write { (writer) throws(FieldpackError) in
        try writer.create(
          Feature(geometry: corner, attributes: ["name": "new", "depth": Int64(99)]),
          in: "points")
      }
      #expect(new == .integer(402))
      #expect(try await self.place(of: new, store) == first.table)
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(new, in: "points", set: ["depth": Int64(98)], geometry: .set(other))
      }
      #expect(try await self.place(of: new, store) == last.table)
      let moved = try #require(try await store.feature(new, in: "points"))
      #expect(moved.geometry == other)
      #expect(moved.attributes["name"] == .text("new") && moved.attributes["depth"] == .integer(98))
      await #expect {
        try await store.write { (writer) throws(FieldpackError) in
          _ = try writer.create(Feature(id: .integer(7), geometry: corner), in: "points")
        }
      } throws: { ($0 as? FieldpackError)?.code == .constraint }
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(new, in: "points")
      }
      #expect(try await store.count(Query("points")) == 401)
      await store.close()
    }

    /// The table that has a feature.
    private func place(of id: FeatureID, _ store: PostGISStore) async throws -> String {
      guard case .integer(let number) = id else { return "" }
      let schema = quotedUnchecked(store.scope.schema)
      return try await store.pool.run { (connection) throws(FieldpackError) in
        let rows = try connection.execute(
          "SELECT tableoid::regclass::text FROM \(schema).points WHERE fid = $1",
          [.integer(number)])
        return rows.text(0, 0)?.split(separator: ".").last.map(String.init) ?? ""
      }
    }

    @Test func `two that make the same server wait for each other`() async throws {
      let servers = try await ShardServers.make()
      try servers.fill(ShardServers.points, count: 50)
      let server = ShardServer(
        name: "\(servers.schema.name) new", address: servers.others[0].address())
      let store = PostGISStore(
        id: "survey", address: servers.schema.cluster.address(), scope: servers.schema.scope,
        servers: [server], trusted: .zero)
      let other = try servers.schema.cluster.connection()
      let watcher = try servers.schema.cluster.connection()
      try other.run(
        script: """
          BEGIN; SELECT pg_advisory_xact_lock(hashtext('fieldpack_servers'));
          CREATE SERVER "\(server.name)" FOREIGN DATA WRAPPER postgres_fdw
          """)
      async let report = Sharding(of: store).apply("points")
      while try watcher.execute(
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype IN ('advisory', 'transactionid')"
      ).integer(0, 0) == 0 { try await Task.sleep(for: .milliseconds(5)) }
      try other.execute("COMMIT")
      #expect(try await report.copiedCount == 51)
      await store.close()
    }

    @Test func `what cannot be divided is told`() async throws {
      let servers = try await ShardServers.make()
      try servers.schema.run(
        """
        CREATE TABLE plain (fid bigint PRIMARY KEY, name text);
        CREATE TABLE keyless (geom geometry(Point, 4326));
        CREATE TABLE taken (fid bigint PRIMARY KEY, geom geometry(Point, 4326), hilbert int);
        CREATE TABLE made (fid bigint PRIMARY KEY, geom geometry(Point, 4326),
          twice bigint GENERATED ALWAYS AS (fid * 2) STORED);
        CREATE VIEW seen AS SELECT * FROM taken
        """)
      let store = servers.store()
      let reasons = [
        "plain": "it has no geometry column", "keyless": "it has no key of one column",
        "taken": "it has a column 'hilbert' already", "made": "column 'twice' is generated",
        "seen": "it is a view",
      ]
      for (name, reason) in reasons {
        await #expect {
          _ = try await Sharding(of: store).plan(LayerID(name))
        } throws: { error in
          (error as? FieldpackError)?.message == "layer '\(name)' cannot be divided: \(reason)"
        }
      }
      await #expect {
        _ = try await Sharding(of: store).rebalance("plain")
      } throws: { ($0 as? FieldpackError)?.code == .notFound }
      #expect(throws: FieldpackError.self) { try Sharding(of: store, without: ["nowhere"]) }
      await store.close()
    }
  }
#endif
