/* Devices and each other: all of one node, linked alike. */
#include "api.h"

static uint32_t peers[UM_MAX_DEVICES]; /* bit p: access to device p is enabled */

static hipError_t put_int(int *out, int value)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = value;
	return hipSuccess;
}

void um_peers_reset(int device)
{
	peers[device] = 0;
}

static hipError_t can_access_peer(int *out, int device, int peer)
{
	if (!um_is_device(device) || !um_is_device(peer))
		return hipErrorInvalidDevice;
	return put_int(out, device != peer);
}

hipError_t hipDeviceCanAccessPeer(int *out, int device, int peer)
{
	UM_ENTER();
	return um_leave(can_access_peer(out, device, peer));
}

static hipError_t enable_peer(int peer, unsigned flags)
{
	uint32_t *enabled = &peers[um_thread.device];

	if (flags)
		return hipErrorInvalidValue;
	if (!um_is_device(peer) || peer == um_thread.device)
		return hipErrorInvalidDevice;
	if (*enabled >> peer & 1u)
		return hipErrorPeerAccessAlreadyEnabled;
	*enabled |= 1u << peer;
	return hipSuccess;
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
	UM_ENTER();
	return um_leave(enable_peer(peer, flags));
}

static hipError_t disable_peer(int peer)
{
	uint32_t *enabled = &peers[um_thread.device];

	if (!um_is_device(peer) || peer == um_thread.device)
		return hipErrorInvalidDevice;
	if (!(*enabled >> peer & 1u))
		return hipErrorPeerAccessNotEnabled;
	*enabled &= ~(1u << peer);
	return hipSuccess;
}

hipError_t hipDeviceDisablePeerAccess(int peer)
{
	UM_ENTER();
	return um_leave(disable_peer(peer));
}

static hipError_t p2p_attribute(int *out, hipDeviceP2PAttr attribute, int from, int to)
{
	if (!um_is_device(from) || !um_is_device(to) || from == to)
		return hipErrorInvalidDevice;
	switch (attribute) {
	case hipDevP2PAttrPerformanceRank:
		return put_int(out, 0); /* the best: all links are alike */
	case hipDevP2PAttrAccessSupported:
	case hipDevP2PAttrNativeAtomicSupported:
		return put_int(out, 1);
	case hipDevP2PAttrHipArrayAccessSupported:
		return put_int(out, 0); /* arrays are refused */
	default:
		return hipErrorInvalidValue;
	}
}

hipError_t hipDeviceGetP2PAttribute(int *out, hipDeviceP2PAttr attribute, int from, int to)
{
	UM_ENTER();
	return um_leave(p2p_attribute(out, attribute, from, to));
}

static hipError_t link_type(int from, int to, uint32_t *type, uint32_t *hops)
{
	if (!um_is_device(from) || !um_is_device(to))
		return hipErrorInvalidDevice;
	if (!type || !hops || from == to)
		return hipErrorInvalidValue;
	*type = 4; /* HSA_AMD_LINK_INFO_TYPE_XGMI of hsa_ext_amd.h */
	*hops = 1;
	return hipSuccess;
}

hipError_t hipExtGetLinkTypeAndHopCount(int from, int to, uint32_t *type, uint32_t *hops)
{
	UM_ENTER();
	return um_leave(link_type(from, to, type, hops));
}
