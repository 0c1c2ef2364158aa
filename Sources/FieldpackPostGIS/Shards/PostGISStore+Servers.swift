#if PostGIS
  import FieldpackCore

  extension PostGISStore {
    /// The catalogue for a query. Where the query is to pass over what fails, servers that do not answer
    /// are reported and left out.
    func catalogue(
      for query: Query, _ report: QueryReport
    ) async throws(FieldpackError) -> PostGISCatalogue {
      let known = try await catalogue()
      guard query.skipsErrors else { return known }
      var catalogue = known
      var failures: [String: FieldpackError?] = [:]
      for (index, layer) in known.layers.enumerated() where layer.isAsked(by: query, known) {
        guard var shards = layer.shards else { continue }
        for server in shards.servers {
          if failures[server] == nil {
            failures[server] = .some(await failure(of: server, layer))
          }
          guard case .some(.some(let failure)) = failures[server] else { continue }
          shards.absent.insert(server)
          report.add(
            failure: StoreFailure(
              store: id, error: failure.adding(location: .init(store: id, layer: layer.layer))))
        }
        catalogue.layers[index].shards = shards
      }
      return catalogue
    }

    /// Why the store's server gets no answer from another one; `nil` where it gets one.
    private func failure(of server: String, _ layer: PostGISLayer) async -> FieldpackError? {
      guard let shards = layer.shards, let part = shards.parts.first(where: { $0.server == server })
      else { return nil }
      let table = "\(quotedUnchecked(shards.schema)).\(quotedUnchecked(part.table))"
      do throws(FieldpackError) {
        return try await pool.run { (connection) throws(FieldpackError) in
          _ = try connection.execute("SELECT FROM \(table) LIMIT 1")
          return nil
        }
      } catch {
        return error.message.contains("\"\(server)\"") ? error : error.of(server: server)
      }
    }

    /// The error with the server that it comes from, where the store's server has lost another one in
    /// the middle of its rows and does not say which.
    func named(_ error: FieldpackError) async -> FieldpackError {
      guard !servers.isEmpty, let state = error.sqlState?.text,
        state.hasPrefix("08") || state.hasPrefix("57P"),
        !servers.contains(where: { error.message.contains("\"\($0.name)\"") })
      else { return error }
      for server in servers {
        do throws(FieldpackError) {
          let actor = try PostgresActor()
          try await actor.connect(server.address, limits: pool.limits)
          await actor.close()
        } catch { return error.of(server: server.name) }
      }
      return error
    }
  }

  extension PostGISLayer {
    fileprivate func isAsked(by query: Query, _ catalogue: PostGISCatalogue) -> Bool {
      query.layers.isEmpty || query.layers.contains { catalogue.layer($0)?.oid == oid }
    }
  }
#endif
