import Fieldpack
import FieldpackCore

extension OptionReader {
  /// Whether the command is logged in the file.
  mutating func logsInteractions() -> Bool {
    flag(
      "log-interactions",
      help: "Log in the file what was done: the command, the key of the person or item, the time.")
  }
}

extension Invocation {
  /// Logs a change that is done, for each person or item that it was about. Where that fails there
  /// is a note: an error would have the user make the change again.
  func log(
    _ command: StaticString, on keys: [KeyTuple], in catalogue: PersonCatalogue, if isWanted: Bool
  ) async {
    do throws(FieldpackError) {
      try await catalogue.note(command, on: keys, if: isWanted)
    } catch { console.note("the command is done, but was not logged: \(error.message)") }
  }
}

extension PersonCatalogue {
  /// Logs a command, for each person or item that it is about.
  func note(
    _ command: StaticString, on keys: [KeyTuple], if isWanted: Bool
  ) async throws(FieldpackError) {
    let log = InteractionLog(store, isOn: isWanted)
    for key in keys { try await log.note(command, on: key) }
  }
}
