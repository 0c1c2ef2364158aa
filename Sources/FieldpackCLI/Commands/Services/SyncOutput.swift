import FieldpackCore
import FieldpackServices

/// What `fieldpack sync` shows, for people and as JSON.
struct SyncOutput {
  let invocation: Invocation
  let device: String
  let receiver: String
  let follows: Bool

  /// How many conflicts people are shown.
  private static let shownConflicts = 20

  // MARK: One run

  func show(_ report: SyncReport) throws(FieldpackError) {
    guard !invocation.isJSON else {
      return try invocation.print(document(report, [:]))
    }
    try invocation.printTable(
      [
        TableColumn("layer"), TableColumn("sent", isNumeric: true),
        TableColumn("received", isNumeric: true), TableColumn("conflicts", isNumeric: true),
        TableColumn("parked", isNumeric: true),
      ],
      report.layers.map { layer in
        [
          layer.name.rawValue, "\(layer.sent)", "\(layer.received)", "\(layer.conflicts)",
          "\(layer.parked)",
        ]
      })
    try showDetails(report)
  }

  private func showDetails(_ report: SyncReport) throws(FieldpackError) {
    let count = report.layers.reduce(0) { $0 + $1.conflicts }
    let shown = report.conflicts.prefix(Self.shownConflicts)
    for conflict in shown {
      try invocation.print(DisplayText.visible("\(conflict.layer): \(conflict.text)") + "\n")
    }
    if count > shown.count { try invocation.print("\(count - shown.count) more\n") }
    if count > 0 {
      try invocation.print("what does not stand is in the layer conflict of both sides\n")
    }
    let parked = report.layers.reduce(0) { $0 + $1.parked }
    if parked > 0 {
      invocation.console.note(
        "\(parked.counting("edit")) stay here, because \(receiver) refuses them or earlier ones of "
          + "their features; the layer sync_job tells why. Try: --retry")
    }
    for note in report.notes { invocation.console.note(note) }
  }

  /// - Parameter report: `nil` where the other side could not be reached.
  private func document(
    _ report: SyncReport?, _ more: KeyValuePairs<String, JSONValue>
  ) -> JSONValue {
    let members: [JSONValue.Member] = [
      .init(name: "device", value: .text(device)), .init(name: "receiver", value: .text(receiver)),
      .init(
        name: "layers",
        value: .array(
          (report?.layers ?? []).map { layer in
            [
              "layer": .text(layer.name.rawValue), "sent_count": JSONValue(layer.sent),
              "received_count": JSONValue(layer.received),
              "conflict_count": JSONValue(layer.conflicts),
              "parked_count": JSONValue(layer.parked),
            ]
          })),
      .init(
        name: "conflicts",
        value: .array(
          (report?.conflicts ?? []).map { conflict in
            [
              "layer": .text(conflict.layer.rawValue),
              "feature": conflict.feature.map { .integer($0) } ?? .null,
              "kind": .text(conflict.values.kind.rawValue),
              "column": JSONValue(conflict.values.column), "lost": conflict.lost,
              "kept": conflict.kept,
            ]
          })),
      .init(name: "notes", value: JSONValue(report?.notes ?? [])),
    ]
    return .object(more.map { .init(name: $0.key, value: $0.value) } + members)
  }

  // MARK: Going on

  func show(_ event: SyncEvent) throws(FieldpackError) {
    switch event {
    case .finished(let report):
      let isQuiet = !report.layers.contains { $0.sent + $0.received + $0.conflicts > 0 }
      if invocation.isJSON {
        try invocation.print(
          document(
            report, ["state": .text("finished"), "error": .null, "pause_ms": .null]))
      } else if !isQuiet {
        for layer in report.layers where layer.sent + layer.received + layer.conflicts > 0 {
          let counts = [
            (layer.sent, "sent"), (layer.received, "received"), (layer.conflicts, "conflicts"),
            (layer.parked, "parked"),
          ]
          let told = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
          try invocation.print(DisplayText.visible("\(layer.name): \(told)") + "\n")
        }
        try showDetails(report)
      }
    case .waiting(let pause, let error):
      if invocation.isJSON {
        try invocation.print(
          document(
            nil,
            [
              "state": .text("waiting"), "error": JSONValue(reason: error),
              "pause_ms": JSONValue(pause),
            ]))
      } else {
        let seconds = Decimals.short(pause / .seconds(1))
        invocation.console.note("\(error.text); tried again after \(seconds) s")
      }
    }
    try invocation.output.flush()
  }

  // MARK: What would be done

  func show(_ plan: SyncPlan) throws(FieldpackError) {
    if invocation.isJSON {
      return try invocation.print([
        "device": .text(device), "receiver": .text(receiver),
        "edits": .array(plan.steps.map(Self.document)), "parked_count": JSONValue(plan.parked),
        "notes": JSONValue(plan.notes),
      ])
    }
    try invocation.printTable(
      ["direction", "layer", "edit", "feature", "columns", "author", "time"].map {
        TableColumn($0)
      },
      plan.steps.map { step in
        [
          step.direction.rawValue, step.layer.rawValue, "\(step.operation)",
          step.feature.map { "\($0)" } ?? "new",
          step.operation == .delete ? "" : step.columns.joined(separator: ", "),
          step.author ?? "", step.time?.description ?? "",
        ]
      })
    if plan.parked > 0 {
      invocation.console.note("\(plan.parked.counting("edit")) parked. Try: --retry")
    }
    for note in plan.notes { invocation.console.note(note) }
  }

  private static func document(_ step: SyncPlan.Step) -> JSONValue {
    [
      "direction": .text(step.direction.rawValue), "layer": .text(step.layer.rawValue),
      "operation": .text("\(step.operation)"), "edit_id": .text(step.edit),
      "feature": step.feature.map { .integer($0) } ?? .null, "identity": .text(step.identity),
      "columns": JSONValue(step.columns), "author": JSONValue(step.author),
      "device": JSONValue(step.device), "edited_at": JSONValue(step.time?.description),
    ]
  }
}
