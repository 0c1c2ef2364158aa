import CGEOS

/// What is known of the GEOS that this program runs with.
public enum TopologyLibrary {
  /// The version and that of the C interface, for example "3.11.1-CAPI-1.17.1".
  public static var version: String { String(cString: GEOSversion()) }
}
