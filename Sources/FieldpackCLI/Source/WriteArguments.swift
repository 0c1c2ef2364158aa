import FieldpackGeoPackage

/// What the commands take that write to GeoPackages.
enum WriteArguments {
  static let allowTriggers = Option<Bool>.flag(
    "allow-triggers",
    help: "Run all triggers of a GeoPackage that is changed, not only those that are known.")
}

extension Invocation {
  /// How far a GeoPackage is trusted that the command changes.
  var profile: OpeningProfile {
    var profile = OpeningProfile.foreign
    profile.runsTriggers = arguments[WriteArguments.allowTriggers]
    return profile
  }
}
