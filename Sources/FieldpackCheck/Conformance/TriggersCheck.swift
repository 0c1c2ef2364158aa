import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

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
    try checkLogs()
  }

  /// Reports change logs whose triggers are not those of their tables.
  private func checkLogs() throws(FieldpackError) {
    for name in try LogTables(file: check.file).names() {
      guard let log = try EditLog(of: name, in: check.file) else {
        try check.report(
          .note, .triggers, table: name,
          "the table is gone, or has another name now; its change log is kept",
          repair: check.triggers[SQLName("\(name)_audit_insert")].map { _ in
            .changeLog(table: name)
          })
        continue
      }
      guard try !log.isCurrent() else { continue }
      try check.report(
        .warning, .triggers, table: name,
        "the change log is out of date: edits may be missing since another program changed the "
          + "table or the log", repair: .changeLog(table: name))
    }
  }
}
