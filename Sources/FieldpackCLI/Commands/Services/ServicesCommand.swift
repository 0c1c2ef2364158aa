import Fieldpack
import FieldpackCore
import FieldpackServices

extension FieldpackTool {
  static var servicesCommand: Command {
    Command(
      "services", abstract: "Start the services and stores of a config, and tell of them.",
      discussion: """
        Starts the services in the order of their needs, downloads files that are not there, \
        opens all stores, and shows the state of each with its reason. The status is 1 where a \
        service or a store does not run. What runs is stopped again: first what needs others.

        With --follow all goes on until it is interrupted. Meanwhile each change of a state, \
        progress of downloads and changes of features are told, one a line. A config with a \
        broker is connected to its backend, and what comes from there is told, too.
        """,
      examples: ["fieldpack services survey.scfg", "fieldpack services survey.scfg --follow"],
      family: positionsFamily, body: ServicesCommand.self)
  }
}

/// `fieldpack services`.
private struct ServicesCommand: CommandBody {
  struct Options: OptionGroup {
    let source: ServiceArguments
    let follows: Bool
    let allowsUnencrypted: Bool

    init(_ reader: inout OptionReader) {
      source = reader.group()
      allowsUnencrypted = reader.insecure()
      follows = reader.flag("follow", help: "Go on, and tell what happens, until interrupted.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    _ = try WorkspaceConfig.files(at: options.source.config)
    let services = try await StartedServices(
      options.source, allowsUnencrypted: options.allowsUnencrypted, connects: options.follows,
      invocation.logger)
    do throws(FieldpackError) {
      let status = options.follows ? try await follow(services) : try await show(services)
      for line in await services.stop() where options.follows { try print(line) }
      return status
    } catch {
      _ = await services.stop()
      throw error
    }
  }

  /// Waits until nothing starts any more, and shows what came of it.
  private func show(_ services: StartedServices) async throws(FieldpackError) -> Int32 {
    await services.start()
    await settle(services)
    try checkCancellation()
    let lines = await services.lines()
    if invocation.isJSON {
      let states = lines.map(\.document)
      try invocation.print([
        "source": .text(options.source.config),
        "services": .array(zip(lines, states).filter { $0.0.service != nil }.map(\.1)),
        "stores": .array(zip(lines, states).filter { $0.0.store != nil }.map(\.1)),
      ])
    } else {
      for line in lines { try print(line) }
    }
    await note(services)
    return lines.allSatisfy { $0.state == "running" } ? ExitStatus.success : ExitStatus.failure
  }

  /// Waits until nothing starts any more, and shows the progress of downloads.
  private func settle(_ services: StartedServices) async {
    var displays: [StoreID: ProgressDisplay] = [:]
    await services.settle { event in
      guard let id = event.store, let progress = event.progress else { return }
      if displays[id] == nil {
        displays[id] = ProgressDisplay(
          "fetching \(id)", total: progress.total, unit: .bytes, console: invocation.console)
      }
      displays[id]?.update(progress.received)
    }
    for display in displays.values { display.finish() }
  }

  /// Tells what happens, until the task is cancelled.
  private func follow(_ services: StartedServices) async throws(FieldpackError) -> Int32 {
    await services.start()
    let events = services.events()
    for line in await services.lines() { try print(line) }
    await note(services)
    for await line in events { try print(line) }
    return ExitStatus.success
  }

  private func note(_ services: StartedServices) async {
    for failure in await services.configs.failures { invocation.console.note(failure.text) }
    for diagnostic in services.data.workspace.diagnostics {
      invocation.console.note(diagnostic.description)
    }
  }

  private func print(_ line: ServiceLine) throws(FieldpackError) {
    if invocation.isJSON {
      try invocation.print(line.document)
    } else if let text = line.text {
      try invocation.print(text)
    }
    if options.follows { try invocation.output.flush() }
  }
}
