import Fieldpack
import FieldpackGeoPackage

extension OptionReader {
  /// How far a GeoPackage is trusted that the command changes.
  mutating func profile() -> OpeningProfile {
    var profile = OpeningProfile.foreign
    profile.runsTriggers = flag(
      "allow-triggers",
      help: "Run all triggers of the GeoPackage, not only those that are known.")
    return profile
  }

  /// Whether features that cannot be read are passed over.
  mutating func skipErrors() -> Bool {
    flag("skip-errors", help: "Leave out what cannot be read, list it, and end with status 2.")
  }
}
