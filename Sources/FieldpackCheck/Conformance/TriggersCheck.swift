import FieldpackCore
import FieldpackGeoPackage

/// Checks for foreign triggers, see ``KnownTriggers``.
struct TriggersCheck {
  let check: ConformanceCheck

  func run() throws(FieldpackError) {
    let rows = check.triggers.values.map { ($0.name, $0.sql) }
    let triggers = FileTriggers(rows) { check.has($0) }
    for (_, trigger) in triggers.foreign.sorted(by: { $0.key < $1.key }) {
      try check.report(
        trigger.canIgnore || trigger.deletes || trigger.table == nil ? .warning : .note,
        .triggers, table: trigger.table,
        "the trigger '\(trigger.name)' \(trigger.deed); it is not known, so that changes of the "
          + "table are refused where it may not run")
    }
  }
}
