import CCURL

/// The HTTP library that is linked.
enum HTTPLibrary {
  /// Its version and those of what it is built with, such as `libcurl/7.88.1 GnuTLS/3.7.9`.
  static var version: String { String(cString: curl_version()) }

  /// Whether it could be set up; asked for before the first handle is made.
  static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
