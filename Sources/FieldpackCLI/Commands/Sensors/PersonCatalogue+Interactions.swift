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

extension PersonCatalogue {
  /// Logs a command that has been done, for each person or item that it was about.
  func note(
    _ command: StaticString, on keys: [KeyTuple], if isWanted: Bool
  ) async throws(FieldpackError) {
    let log = InteractionLog(store, isOn: isWanted)
    for key in keys { try await log.note(command, on: key) }
  }
}
