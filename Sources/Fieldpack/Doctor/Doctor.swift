import FieldpackCore
import FieldpackFormats
import FieldpackProjection
import FieldpackSQLite
import FieldpackTopology

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Checks what Fieldpack needs: libraries, cache, disk space, and sources.
public struct Doctor: Sendable {
  public var options: SourceOptions

  public init(_ options: SourceOptions = SourceOptions()) { self.options = options }

  // MARK: Surroundings

  /// Checks the libraries.
  public func libraries() -> [DoctorFinding] {
    [sqlite, finding("SpatiaLite", SQLiteLibrary.spatiaLiteVersion)] + projection + [
      finding("GEOS", TopologyLibrary.version), finding("libxml2", XMLLibrary.version),
    ]
  }

  private func finding(_ name: String, _ version: String) -> DoctorFinding {
    DoctorFinding("libraries", name, .ok, version)
  }

  private var sqlite: DoctorFinding {
    let missing = SQLiteLibrary.missingOptions
    let version = SQLiteLibrary.version
    guard missing.isEmpty, SQLiteLibrary.isRecent else {
      let lack = missing.isEmpty ? "it is too old" : "it lacks \(missing.joined(separator: ", "))"
      return DoctorFinding(
        "libraries", "SQLite", .problem, "\(version): \(lack). Try: 3.34 or later with R-tree")
    }
    return DoctorFinding("libraries", "SQLite", .ok, "\(version), R-tree, threads, WAL")
  }

  private var projection: [DoctorFinding] {
    do throws(ProjectionError) {
      let library = try ProjectionLibrary()
      let network = library.usesNetwork ? "on" : "off"
      let database =
        if let path = library.databasePath {
          DoctorFinding(
            "libraries", "proj.db", .ok, "\(path), EPSG \(library.epsgVersion ?? "unknown")")
        } else {
          DoctorFinding("libraries", "proj.db", .problem, "not found. Try: install proj-data")
        }
      return [finding("PROJ", "\(library.version), network \(network)"), database]
    } catch {
      return [DoctorFinding("libraries", "PROJ", .problem, error.message)]
    }
  }

  /// Checks the cache, writing and reading of a file, and the limits of this process.
  public func system() async -> [DoctorFinding] {
    [FileCache(policy: options.file.cache).finding, await DoctorTrial().finding] + limits
  }

  private var limits: [DoctorFinding] {
    [
      limit("open files", RLIMIT_NOFILE, least: 64, unit: ""),
      limit("file size", RLIMIT_FSIZE, least: 1 << 30, unit: " bytes"),
      limit("memory", RLIMIT_AS, least: 512 << 20, unit: " bytes"),
    ]
  }

  #if canImport(Glibc)
    private typealias Resource = __rlimit_resource
  #else
    private typealias Resource = Int32
  #endif

  private func limit(
    _ name: String, _ resource: Resource, least: UInt64, unit: String
  ) -> DoctorFinding {
    var limit = rlimit()
    #if canImport(Glibc)
      let status = getrlimit(__rlimit_resource_t(resource.rawValue), &limit)
    #else
      let status = getrlimit(resource, &limit)
    #endif
    guard status == 0 else { return DoctorFinding("system", name, .note, "not known") }
    let value = UInt64(limit.rlim_cur)
    guard value < UInt64(Int64.max) else { return DoctorFinding("system", name, .ok, "unlimited") }
    return DoctorFinding("system", name, value < least ? .note : .ok, "at most \(value)\(unit)")
  }

  // MARK: Sources

  /// Opens a source, and reports for each store whether it answers, and the diagnostics of its
  /// config.
  public func look(at source: String) async -> [DoctorFinding] {
    do throws(FieldpackError) {
      let workspace = try await Workspace.open(source: source, options: options)
      var findings: [DoctorFinding] = []
      for member in workspace.members { findings.append(await finding(member, source)) }
      for diagnostic in workspace.diagnostics {
        findings.append(
          DoctorFinding(
            source, "\(diagnostic.file):\(diagnostic.line):\(diagnostic.column)",
            diagnostic.severity == .error ? .problem : .note, diagnostic.message))
      }
      await workspace.close()
      return findings
    } catch {
      return [DoctorFinding(source, source, .problem, error.message, advice: error.advice)]
    }
  }

  private static func staleLog(_ layer: LayerID, _ source: String) -> Note {
    Note(
      "its change log is out of date, because another program changed the layer or the log",
      advice: .logEdits(file: source, layer: layer.rawValue))
  }

  private func finding(_ member: Workspace.Member, _ source: String) async -> DoctorFinding {
    let name = "store \(member.id)"
    do throws(FieldpackError) {
      if let error = member.state.error { throw error }
      let layers = try await member.store?.layers() ?? []
      let features = layers.reduce(0) { $0 + ($1.featureCount ?? 0) }
      let access = member.store is any WritableStore ? "" : ", read-only"
      let logs = try await member.store?.geoPackage?.read { (snapshot) throws(FieldpackError) in
        try snapshot.staleLogs()
      }
      let notes = layers.flatMap { layer in
        let log = logs?.contains(layer.id) == true ? [Self.staleLog(layer.id, source)] : []
        return (layer.notes + log).map { $0.preceded(by: "layer \(layer.id): ") }
      }
      let counts =
        "\(layers.count) layer\(layers.count == 1 ? "" : "s"), \(features) "
        + "feature\(features == 1 ? "" : "s")\(access)"
      return DoctorFinding(
        source, name, notes.isEmpty ? .ok : .note, [Note(counts)] + notes)
    } catch {
      return DoctorFinding(source, name, .problem, error.message, advice: error.advice)
    }
  }
}
