#if !MQTT
  import Testing

  @Suite(.disabled("built without the trait MQTT"))
  struct MQTTClientTests {
    @Test func `the tests of MQTT brokers`() {}
  }
#endif
