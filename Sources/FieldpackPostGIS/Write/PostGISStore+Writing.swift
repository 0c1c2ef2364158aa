#if PostGIS
  package import Fieldpack
  package import FieldpackCore

  extension PostGISStore: WritableStore {
    /// How long a change waits for what others have locked.
    static let lockLimit = "SET LOCAL lock_timeout = '30s'"

    package func write<R: Sendable>(
      _ body: @Sendable (inout FeatureWriter) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      try await writing { (writer) throws(FieldpackError) in
        var features = FeatureWriter(writer)
        return try body(&features)
      }
    }

    func writing<R: Sendable>(
      _ body: @Sendable (PostGISWriter) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      let (id, scope, servers) = (id, scope, servers)
      do throws(FieldpackError) {
        let limits = pool.limits
        let (value, hasChangedTables) = try await pool.run { (connection) throws(FieldpackError) in
          let writer = PostGISWriter(connection, store: id, scope: scope, servers: servers)
          let value = try connection.transaction(.writing) { () throws(FieldpackError) in
            try connection.execute(Self.lockLimit)
            try nameEditor(on: connection)
            let value = try body(writer)
            try writer.finish()
            if writer.hasChangedTables { try mendLogs(on: connection) }
            try noteTransaction(of: connection)
            return value
          }
          // What stays there all the same goes when a layer of the name is divided again.
          _ = writer.oldParts.flatMap { $0.drop(servers, limits, by: connection) }
          return (value, writer.hasChangedTables)
        }
        if hasChangedTables { forgetCatalogue() }
        return value
      } catch { throw error.adding(location: .init(store: id)) }
    }
  }

  extension PostGISStore: LayerLoading {
    package func load(
      _ parts: [LayerPart], _ options: LayerLoadOptions
    ) async throws(FieldpackError) -> LayerLoadReport {
      let lease: PostgresLease
      do throws(FieldpackError) { lease = try await pool.lease() } catch {
        throw error.adding(location: .init(store: id))
      }
      do throws(FieldpackError) {
        let report = try await PostGISLoad(self, lease, options).run(parts)
        await lease.release()
        forgetCatalogue()
        return report
      } catch {
        await lease.release()
        throw error
      }
    }
  }
#endif
