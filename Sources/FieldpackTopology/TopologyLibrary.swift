import CGEOS

/// Facts about the GEOS that this program runs with.
public enum TopologyLibrary {
  /// The versions of GEOS and its C interface, for example "3.11.1-CAPI-1.17.1".
  public static var version: String { String(cString: GEOSversion()) }
}
