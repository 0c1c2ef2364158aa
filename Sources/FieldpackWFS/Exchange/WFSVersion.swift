/// A version of the Web Feature Service that is spoken here.
///
/// Source: OGC 02-058 (1.0.0), OGC 04-094 (1.1.0), OGC 09-025r2 (2.0.0).
public enum WFSVersion: String, Hashable, Sendable, CaseIterable {
  /// Only to insert features.
  case wfs10 = "1.0.0"
  case wfs11 = "1.1.0"
  case wfs20 = "2.0.0"

  /// The namespace of the elements of requests and answers.
  var namespace: String {
    self == .wfs20 ? "http://www.opengis.net/wfs/2.0" : "http://www.opengis.net/wfs"
  }
}
