import Fieldpack
import FieldpackGeoPackage

extension OptionReader {
  /// How far a GeoPackage is trusted that the command changes.
  mutating func profile() -> OpeningProfile {
    var profile = OpeningProfile.foreign
    profile.runsTriggers = flag(
      "allow-triggers",
      help: "Run all triggers of the GeoPackage, not only those that are known.")
    profile.editor = .ofTool
    return profile
  }

  /// As ``profile()``, for a command that edits features.
  mutating func editingProfile() -> OpeningProfile {
    var profile = profile()
    profile.editor = editor()
    return profile
  }

  /// Who edits, for the change logs of the layers that have one.
  mutating func editor() -> Editor {
    let author = value(
      "author", .text("name"), shownDefault: "FIELDPACK_AUTHOR, else nobody",
      help: "Who makes the edits, for the change log of a layer that has one.")
    return author.map { .onThisDevice(author: $0) } ?? .ofTool
  }

  /// Whether features that cannot be read are passed over.
  mutating func skipErrors() -> Bool {
    flag("skip-errors", help: "Leave out what cannot be read, list it, and end with status 2.")
  }
}

extension Editor {
  /// The author that the environment names, on this device. The user's name in the system is private:
  /// it is not asked.
  static var ofTool: Editor {
    .onThisDevice(author: Terminal.variable("FIELDPACK_AUTHOR"))
  }
}
