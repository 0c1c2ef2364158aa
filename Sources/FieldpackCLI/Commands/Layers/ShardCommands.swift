import Fieldpack
import FieldpackCore
import FieldpackPostGIS

extension FieldpackTool {
  static var shardCommand: Command {
    Command(
      "shard", abstract: "Divide the layers of a store on PostgreSQL over several servers.",
      discussion: """
        The features of a layer go to the servers by their place, so that a box asks only those \
        servers that have something in it. The servers stand in the config, as the option \
        'servers' of the store: a list of objects with 'name' and 'uri'.
        """,
      subcommands: [shardPlanCommand, shardApplyCommand, shardRebalanceCommand],
      family: editFamily)
  }

  private static var shardPlanCommand: Command {
    Command(
      "plan", abstract: "Print the SQL that would divide a layer.",
      discussion: """
        With --citus the SQL is for servers with Citus; it has not been tried on any. Nothing is \
        changed.
        """,
      examples: ["fieldpack shard plan team.scfg:survey wells"], body: ShardPlanCommand.self)
  }

  private static var shardApplyCommand: Command {
    Command(
      "apply", abstract: "Divide layers over the servers of the config.",
      discussion: """
        The features are copied and compared, then the divided table takes the place of the old \
        one, all at once. Until then nobody can write to the layer. A command that is stopped \
        leaves the layer as it was.
        """,
      examples: ["fieldpack shard apply team.scfg:survey wells --ranges 16"],
      body: ShardApplyCommand.self)
  }

  private static var shardRebalanceCommand: Command {
    Command(
      "rebalance", abstract: "Move parts of divided layers until the servers have equal shares.",
      discussion: """
        A server that is new in the config gets a share, and one under --without gives all of its \
        parts to others.
        """,
      examples: [
        "fieldpack shard rebalance team.scfg:survey wells",
        "fieldpack shard rebalance team.scfg:survey wells --without north",
      ], body: ShardRebalanceCommand.self)
  }
}

/// The arguments of all shard commands.
private struct ShardArguments: OptionGroup {
  @Required var source: SourceName
  let layers: [String]
  let ranges: Int?
  let without: [String]

  init(_ reader: inout OptionReader) {
    _source = reader.argument(
      .source("config:store", ["scfg"]), help: "The config, and the store where it has several.")
    layers = reader.arguments(
      .text("layer", completion: .layer), minimum: 1, help: "The layers.")
    ranges = reader.value(
      "ranges", .integer("n", in: 1...1_000),
      help: "Into how many ranges the layer is cut. (default: 4 for each server)")
    without = reader.values(
      "without", .text("server"), help: "A server that gets no part; may be repeated.")
  }
}

/// `fieldpack shard plan`.
private struct ShardPlanCommand: CommandBody {
  struct Options: OptionGroup {
    let arguments: ShardArguments
    let isCitus: Bool

    init(_ reader: inout OptionReader) {
      arguments = reader.group()
      isCitus = reader.flag("citus", help: "Print the SQL for Citus.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await ShardWork(invocation, options.arguments).run(.plan, isCitus: options.isCitus)
  }
}

/// `fieldpack shard apply`.
private struct ShardApplyCommand: CommandBody {
  let invocation: Invocation
  let options: ShardArguments

  func run() async throws(FieldpackError) -> Int32 {
    try await ShardWork(invocation, options).run(.apply)
  }
}

/// `fieldpack shard rebalance`.
private struct ShardRebalanceCommand: CommandBody {
  let invocation: Invocation
  let options: ShardArguments

  func run() async throws(FieldpackError) -> Int32 {
    try await ShardWork(invocation, options).run(.rebalance)
  }
}

/// Runs a shard command and prints its report.
private struct ShardWork {
  enum Verb: String {
    case plan, apply, rebalance
  }

  private let invocation: Invocation
  private let arguments: ShardArguments

  init(_ invocation: Invocation, _ arguments: ShardArguments) {
    (self.invocation, self.arguments) = (invocation, arguments)
  }

  #if PostGIS
    func run(_ verb: Verb, isCitus: Bool = false) async throws(FieldpackError) -> Int32 {
      let stores = arguments.source.layer.map { [StoreID($0.rawValue)] }
      return try await invocation.withSource(
        arguments.source.path, SourceArguments(stores: stores)
      ) { (source) async throws(FieldpackError) in
        let store = try store(of: source.workspace)
        var documents: [JSONValue] = []
        for layer in arguments.layers {
          let report = try await self.report(verb, LayerID(layer), of: store)
          for note in report.notes { invocation.console.note(note) }
          if invocation.isJSON {
            documents.append(document(report, layer, store.id))
          } else if verb == .plan {
            try invocation.print(isCitus ? report.citus : report.script)
          } else {
            try print(report, verb, layer)
          }
        }
        if invocation.isJSON { try invocation.print(["layers": .array(documents)]) }
        return ExitStatus.success
      }
    }

    private func store(of workspace: Workspace) throws(FieldpackError) -> PostGISStore {
      let ids = arguments.source.layer.map { [StoreID($0.rawValue)] } ?? workspace.members.map(\.id)
      guard ids.count == 1 else {
        throw FieldpackError(
          .invalidArgument,
          "\(arguments.source.path) has \(ids.count.counting("store")). "
            + "Try: \(arguments.source.path):STORE")
      }
      guard let store = try workspace.store(ids[0]) as? PostGISStore else {
        throw FieldpackError(
          .unsupported, "store '\(ids[0])' is not on PostgreSQL", location: .init(store: ids[0]))
      }
      return store
    }

    private func report(
      _ verb: Verb, _ layer: LayerID, of store: PostGISStore
    ) async throws(FieldpackError) -> Sharding.Report {
      var sharding = try Sharding(of: store, without: arguments.without)
      let display = ProgressDisplay(
        "copying", total: nil, unit: .features, console: invocation.console)
      defer { display.finish() }
      sharding.progress = { display.update($0) }
      switch verb {
      case .plan: return try await sharding.plan(layer, ranges: arguments.ranges)
      case .apply: return try await sharding.apply(layer, ranges: arguments.ranges)
      case .rebalance: return try await sharding.rebalance(layer, ranges: arguments.ranges)
      }
    }

    private func print(
      _ report: Sharding.Report, _ verb: Verb, _ layer: String
    ) throws(FieldpackError) {
      let name = DisplayText.visible(layer)
      let moved = report.copiedCount.counting("feature")
      let parts = report.plan.parts.count.counting("part")
      switch (verb, report.copiedCount) {
      case (.rebalance, 0): try invocation.print("'\(name)' is in balance\n")
      case (.rebalance, _): try invocation.print("moved \(moved) of '\(name)'\n")
      default: try invocation.print("divided '\(name)': \(moved) in \(parts)\n")
      }
      try invocation.printTable(
        [
          TableColumn("server"), TableColumn("parts", isNumeric: true),
          TableColumn("features", isNumeric: true),
        ],
        zip(report.plan.servers, report.plan.counts).map { server, count in
          let parts = report.plan.parts.filter { $0.server == server }.count
          return [server ?? "(the store's own)", String(parts), String(count)]
        })
    }

    private func document(
      _ report: Sharding.Report, _ layer: String, _ store: StoreID
    ) -> JSONValue {
      let area = report.key.area
      return [
        "store": .text(store.rawValue), "layer": .text(layer),
        "area": .array([area.minX, area.minY, area.maxX, area.maxY].map { .real($0) }),
        "reach": .array([.real(report.key.reach.width), .real(report.key.reach.height)]),
        "copied_count": JSONValue(report.copiedCount),
        "parts": .array(
          report.plan.parts.map { part in
            [
              "server": JSONValue(part.server), "table": .text(part.table),
              "first": .integer(part.range.lowerBound), "last": .integer(part.range.upperBound - 1),
              "count": JSONValue(part.count),
            ]
          }),
        "sql": .text(report.script), "citus_sql": .text(report.citus),
        "notes": JSONValue(report.notes),
      ]
    }
  #else
    func run(_ verb: Verb, isCitus: Bool = false) async throws(FieldpackError) -> Int32 {
      throw FieldpackError(
        .unsupported,
        "'shard \(verb.rawValue)' needs libpq, and this was built without. Try: a build with the "
          + "package trait PostGIS, swift build --traits PostGIS")
    }
  #endif
}
