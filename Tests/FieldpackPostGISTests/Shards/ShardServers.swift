#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackTestSupport

  @testable import FieldpackPostGIS

  /// Four servers: that of the store, which is shared by all tests, and three that parts go to.
  struct ShardServers {
    static let others = Task { [try TestCluster(), try TestCluster(), try TestCluster()] }

    let schema: TestSchema
    let others: [TestCluster]

    static func make() async throws -> ShardServers {
      ShardServers(schema: try await TestSchema.make(), others: try await others.value)
    }

    /// - Parameter count: how many of the other servers the store knows.
    func store(servers count: Int = 3, trusted: Duration = .zero) -> PostGISStore {
      PostGISStore(
        id: "survey", address: schema.cluster.address(), scope: schema.scope,
        servers: others.prefix(count).enumerated().map { Self.server($0.offset, $0.element) },
        trusted: trusted)
    }

    /// The store with all servers, for another process.
    static func store(in folders: [String], schema: String) -> PostGISStore {
      var scope = PostGISScope()
      scope.schema = schema
      let addresses = folders.map { folder in
        PostgresAddress(
          keywords: [
            ("host", folder), ("dbname", "fieldpack"), ("user", "fieldpack"),
            ("passfile", "/dev/null"),
          ], shown: "test/fieldpack")
      }
      let servers = zip(folders, addresses).dropFirst().map { folder, address in
        ShardServer(
          name: folder.split(separator: "/").last.map(String.init) ?? "server", address: address)
      }
      return PostGISStore(
        id: "survey", address: addresses[0], scope: scope, servers: servers, trusted: .zero)
    }

    /// The names are those of clusters, because all schemas of a database know the same servers.
    static func server(_ number: Int, _ cluster: TestCluster) -> ShardServer {
      let place = cluster.folder.split(separator: "/").last.map(String.init) ?? "server"
      return ShardServer(name: "\(place)", address: cluster.address())
    }

    /// The tables in the schema of the test, on one of the other servers.
    func tables(on other: TestCluster) throws -> [String] {
      let rows = try other.connection().execute(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
          + "WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY 1", [.text(schema.name)])
      return (0..<rows.count).compactMap { rows.text($0, 0) }
    }

    // MARK: Features

    /// A layer with geometries of all sizes, without one, and empty.
    static let areas = Schema(
      layer: "areas", idColumn: "fid",
      geometry: GeometryColumn("geom", type: .polygon, srs: .wgs84),
      columns: [ColumnDefinition("name", .text()), ColumnDefinition("depth", .integer)])

    static let points = Schema(
      layer: "points", idColumn: "fid",
      geometry: GeometryColumn("geom", type: .point, srs: .wgs84),
      columns: [ColumnDefinition("name", .text()), ColumnDefinition("depth", .integer)])

    /// Features that thin out from a town outwards.
    func fill(_ table: Schema, count: Int) throws {
      try schema.fill(table, [])
      let position = "8 + 40 * (random() - 0.5) ^ 3 * 8, 47 + 20 * (random() - 0.5) ^ 3 * 8"
      let geometry =
        table.layer == "points"
        ? "ST_SetSRID(ST_MakePoint(\(position)), 4326)"
        : "ST_Envelope(ST_Buffer(ST_SetSRID(ST_MakePoint(\(position)), 4326), "
          + "0.001 + random() ^ 8))"
      try schema.run(
        """
        SELECT setseed(0.25);
        INSERT INTO \(table.layer) (fid, geom, name, depth)
        SELECT i, CASE i % 50 WHEN 0 THEN NULL ELSE \(geometry) END,
          CASE i % 7 WHEN 0 THEN NULL ELSE 'n' || i % 100 END, i % 13
        FROM generate_series(1, \(count)) AS i;
        INSERT INTO \(table.layer) (fid, geom)
        VALUES (\(count + 1), ST_GeomFromText('\(table.layer == "points" ? "POINT" : "POLYGON") EMPTY',
          4326));
        ANALYZE \(table.layer)
        """)
    }

    /// Queries whose answers are the same, however a layer is divided.
    static func queries(_ layer: LayerID) -> [Query] {
      var random = FilterGenerator.SplitMix(state: 11)
      var queries = [
        Query(layer), Query(layer).limit(20, offset: 100),
        Query(layer, where: Column<Int64>("depth") > 6),
        Query(layer, where: Column<String>("name").like("n1%"))
          .order(by: [Order("depth", descending: true)]).limit(50),
        Query(layer, where: .envelope(.disjoint, Envelope(minX: 5, minY: 40, maxX: 9, maxY: 60))),
        Query(layer, where: .envelope(.within, Envelope(minX: 7, minY: 46, maxX: 9, maxY: 48))),
        Query(layer).select("name"),
      ]
      for size in [0.01, 0.1, 1, 1, 5, 20] {
        let x = 8 + Double.random(in: -size...size, using: &random)
        let y = 47 + Double.random(in: -size...size, using: &random)
        let box = Envelope(minX: x - size, minY: y - size, maxX: x + size, maxY: y + size)
        queries.append(Query(layer, where: .intersects(box)))
        queries.append(Query(layer, where: .not(.intersects(box))))
      }
      return queries
    }

    struct Answer: Equatable {
      var features: [Feature] = []
      var count = 0
    }

    static func answers(
      _ store: PostGISStore, _ layer: LayerID
    ) async throws(FieldpackError) -> [Answer] {
      var answers: [Answer] = []
      for query in queries(layer) {
        var answer = Answer()
        for try await feature in try await store.query(query).features {
          answer.features.append(feature)
        }
        answer.count = try await store.count(query)
        answers.append(answer)
      }
      return answers
    }
  }
#endif
